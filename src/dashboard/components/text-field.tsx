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
