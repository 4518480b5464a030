import { type ReadonlySignal, signal } from '@preact/signals';

const STORAGE_KEY = 'terminal-font-size';

/** Sizes in CSS pixels. */
const DEFAULT_PX = 13;
const MIN_PX = 8;
const MAX_PX = 32;

/** A change of the size: by pixels, or back to the default. */
export type FontSizeChange = 1 | -1 | 'default';

const KEYS: { readonly [key: string]: FontSizeChange } = { '+': 1, '=': 1, '-': -1, '0': 'default' };

/** The change that a key press in the terminal asks for, as in a browser; undefined for none. */
export const fontSizeChangeOf = ({ key, ctrlKey, altKey, metaKey }: KeyboardEvent): FontSizeChange | undefined =>
  (ctrlKey || metaKey) && !altKey ? KEYS[key] : undefined;

/** Size of the text of terminals, which this browser keeps. */
export class FontSize {
  readonly #px = signal(stored());

  /** The size in CSS pixels. */
  get px(): ReadonlySignal<number> {
    return this.#px;
  }

  /** Changes the size, within its bounds. */
  change(change: FontSizeChange): void {
    this.#px.value = change === 'default' ? DEFAULT_PX : bounded(this.#px.peek() + change);
    localStorage.setItem(STORAGE_KEY, String(this.#px.peek()));
  }
}

const bounded = (px: number): number => Math.min(MAX_PX, Math.max(MIN_PX, px));

function stored(): number {
  const found = Number(localStorage.getItem(STORAGE_KEY) ?? DEFAULT_PX);
  return Number.isInteger(found) ? bounded(found) : DEFAULT_PX;
}
