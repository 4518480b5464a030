import type { ComponentChildren, JSX } from 'preact';

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
