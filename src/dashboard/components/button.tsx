import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { useEffect } from 'preact/hooks';

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
