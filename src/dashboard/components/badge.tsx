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

/** A filter that is on or off. */
export const Chip = ({ isOn, onToggle, children, count }: ChipProps): JSX.Element => (
  <button type="button" class="chip" aria-pressed={isOn} onClick={onToggle}>
    {children}
    {count === undefined ? null : <span class="count">{count}</span>}
  </button>
);

interface ChipProps {
  readonly isOn: boolean;
  readonly onToggle: () => void;
  readonly children: ComponentChildren;
  /** How many entries it would leave. */
  readonly count?: number;
}

/** Shares of a limit from which on it is near, and as good as reached. */
const NEAR = 0.8;
const FULL = 0.95;

/** A value against its limit. Without a limit it is a text alone. */
export function Bar({ value, limit, label, text }: BarProps): JSX.Element {
  if (limit === null || limit <= 0) return <span class="bar-text">{text}</span>;
  const share = Math.min(1, value / limit);
  const tone = share >= FULL ? 'bad' : share >= NEAR ? 'warn' : 'good';
  return (
    <span
      class="bar"
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={limit}
      {...now(value, limit, text)}
    >
      <span class="bar-text">{text}</span>
      <span class="bar-track">
        <span class={`bar-fill ${tone}`} style={{ width: `${share * 100}%` }} />
      </span>
    </span>
  );
}

const now = (value: number, limit: number, text: string) => ({
  'aria-valuenow': Math.min(value, limit),
  'aria-valuetext': text,
});

interface BarProps {
  readonly value: number;
  /** Null for none. */
  readonly limit: number | null;
  /** What is measured, for screen readers. */
  readonly label: string;
  /** The value with its unit. */
  readonly text: string;
}
