import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';

import { Button } from './button.js';
import { Icon } from './icon.js';

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
