import type { ComponentChildren, JSX } from 'preact';

import type { Tone } from './tone.js';

export type { Tone } from './tone.js';

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
