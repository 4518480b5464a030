import type { Signal } from '@preact/signals';
import type { JSX } from 'preact';

interface TextFieldProps {
  readonly label: string;
  /** What is typed. */
  readonly text: Signal<string>;
  readonly placeholder?: string;
  readonly maxLength?: number;
}

/** A line of text with a label above it. */
export const TextField = ({ label, text, placeholder, maxLength }: TextFieldProps): JSX.Element => (
  <label class="field">
    <span>{label}</span>
    <input
      type="text"
      autoComplete="off"
      spellcheck={false}
      placeholder={placeholder}
      maxLength={maxLength}
      value={text.value}
      onInput={({ currentTarget }) => {
        text.value = currentTarget.value;
      }}
    />
  </label>
);

/** What takes the keys that are pressed in it. Fields that can only be read do not. */
const TAKES_TEXT = ':is(input, textarea):not([readonly]), select, [contenteditable]';

/** Whether the target of a key press takes text. */
export function takesText(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(TAKES_TEXT) !== null;
}
