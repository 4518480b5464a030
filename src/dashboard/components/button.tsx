import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect } from 'preact/hooks';

import { Icon } from './icon.js';
import { Problem } from './states.js';

/** How long the second step waits, in milliseconds. */
const ARMED_MS = 5000;

interface ButtonProps {
  readonly onPress: () => void;
  readonly children: ComponentChildren;
  /** Why it cannot be pressed now; undefined when it can. */
  readonly whyNot?: string | undefined;
  readonly tone?: 'plain' | 'primary' | 'danger' | 'quiet';
  /** Name for screen readers, when the content is an icon. */
  readonly label?: string;
  readonly title?: string;
  readonly isPressed?: boolean;
}

/** A button. One that cannot be pressed stays in the order of the keyboard, and says why. */
export function Button({
  onPress,
  children,
  whyNot,
  tone = 'plain',
  label,
  title,
  isPressed,
}: ButtonProps): JSX.Element {
  const isOff = whyNot !== undefined;
  return (
    <button
      type="button"
      class={`button ${tone}`}
      aria-disabled={isOff}
      aria-label={label}
      aria-pressed={isPressed}
      title={whyNot ?? title ?? label}
      onClick={() => {
        if (!isOff) onPress();
      }}
    >
      {children}
      {isOff ? <span class="hidden">{` (not available: ${whyNot})`}</span> : null}
    </button>
  );
}

/** A button for what cannot be undone: the first press asks, the second one does it. */
export function TwoStepButton({ ask, ...props }: ButtonProps & { readonly ask: string }): JSX.Element {
  const isArmed = useSignal(false);
  useEffect(() => {
    if (!isArmed.value) return undefined;
    const timer = setTimeout(() => {
      isArmed.value = false;
    }, ARMED_MS);
    return () => clearTimeout(timer);
  }, [isArmed.value]);
  const onPress = () => {
    if (isArmed.value) props.onPress();
    isArmed.value = !isArmed.value;
  };
  return (
    <span class="two-step" aria-live="polite">
      <Button {...props} onPress={onPress} tone={isArmed.value ? 'danger' : (props.tone ?? 'plain')}>
        {isArmed.value ? ask : props.children}
      </Button>
    </span>
  );
}

/** How long it says that it has copied, in milliseconds. */
const SHOWN_MS = 1500;

/** Copies a text. */
export function CopyButton({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }): JSX.Element {
  const state = useSignal(label);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      state.value = 'Copied';
    } catch {
      // Browsers offer the clipboard in secure contexts alone, and may ask first.
      state.value = 'Not allowed: select the text instead';
    }
    setTimeout(() => {
      state.value = label;
    }, SHOWN_MS);
  };
  return (
    <Button tone="quiet" label={state.value} onPress={() => void copy()}>
      <Icon name="copy" />
    </Button>
  );
}

/** Loads the page again, with the view that its address names. */
const ReloadButton = (): JSX.Element => <Button onPress={() => location.reload()}>Load it again</Button>;

/** Says that code could not be loaded, and how it is. */
export const Reload = ({ what }: { readonly what: string }): JSX.Element => (
  <p role="alert">
    {what} is missing. <ReloadButton />
  </p>
);

/** The same in place of a page. */
export const ReloadPage = ({ children }: { readonly children: ComponentChildren }): JSX.Element => (
  <Problem title="This page could not be loaded">
    {children} <ReloadButton />
  </Problem>
);

/** A row of controls. */
export const Toolbar = ({ label, children }: ToolbarProps): JSX.Element => (
  <div class="toolbar" role="group" aria-label={label}>
    {children}
  </div>
);

interface ToolbarProps {
  readonly label: string;
  readonly children: ComponentChildren;
}

/** Offers a file for saving. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // Browsers begin to read it at the click.
  setTimeout(() => {
    URL.revokeObjectURL(link.href);
  }, 60_000);
}
