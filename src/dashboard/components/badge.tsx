import type { ComponentChildren, JSX } from 'preact';

/** What a colour stands for. The text says it too. */
export type Tone = 'neutral' | 'good' | 'info' | 'warn' | 'bad';

/** A short state, such as `running`. */
export const Badge = ({ tone = 'neutral', children, title }: BadgeProps): JSX.Element => (
  <span class={`badge ${tone}`} title={title}>
    {children}
  </span>
);

interface BadgeProps {
  readonly tone?: Tone | undefined;
  readonly title?: string | undefined;
  readonly children: ComponentChildren;
}
