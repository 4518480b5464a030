/** What a key press means. */
export type Shortcut =
  | { readonly kind: 'page'; readonly key: string }
  | { readonly kind: 'help' | 'search' | 'next' | 'previous' | 'back' };

/** A key press, as far as it matters. */
export interface KeyPress {
  readonly key: string;
  /** Whether Ctrl, Alt or Meta is held. */
  readonly isModified: boolean;
  /** Whether what has the focus takes text: a field, or a terminal. */
  readonly isTyping: boolean;
  /** Milliseconds, on any clock. */
  readonly at: number;
}

/** How long the letter after `g` may take, in milliseconds. */
const CHORD_MS = 1500;

const PLAIN: { readonly [key: string]: Shortcut } = {
  '?': { kind: 'help' },
  '/': { kind: 'search' },
  j: { kind: 'next' },
  k: { kind: 'previous' },
  Escape: { kind: 'back' },
};

/** Turns key presses into shortcuts. */
export class Shortcuts {
  #chordAt = -Infinity;

  /** The shortcut that a key press completes; undefined for none. */
  press({ key, isModified, isTyping, at }: KeyPress): Shortcut | undefined {
    if (isModified || isTyping) return undefined;
    const isChord = at - this.#chordAt <= CHORD_MS;
    this.#chordAt = !isChord && key === 'g' ? at : -Infinity;
    if (isChord && /^[a-z]$/.test(key)) return { kind: 'page', key };
    return PLAIN[key];
  }
}
