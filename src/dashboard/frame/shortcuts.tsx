import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';

import { Dialog } from '../components/dialog.js';
import { takesText } from '../components/text-field.js';
import { pages, pagesFor } from '../pages/pages.js';
import { type Router } from '../router.js';
import { hrefOf } from '../route.js';
import { useDashboard } from '../state/context.js';

/** What a key press means. */
type Shortcut =
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

/** Rows that `j` and `k` visit: the links that open them. */
const ROWS = 'main [data-row]';
const SEARCH = 'main input[type="search"]';

/** Acts on the keys of the dashboard. Returns whether their list is open. */
export function useShortcuts(): Signal<boolean> {
  const { router, access } = useDashboard();
  const isHelpOpen = useSignal(false);
  useEffect(() => {
    const shortcuts = new Shortcuts();
    const onKey = (event: KeyboardEvent) => {
      const { key, timeStamp: at } = event;
      const isModified = event.ctrlKey || event.altKey || event.metaKey;
      const shortcut = event.defaultPrevented
        ? undefined
        : shortcuts.press({ key, isModified, isTyping: takesText(event.target), at });
      if (!shortcut || document.querySelector('dialog[open]')) return;
      if (shortcut.kind === 'help') isHelpOpen.value = true;
      else act(shortcut, router, access.inCluster);
      event.preventDefault();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return isHelpOpen;
}

function act(shortcut: Shortcut, router: Router, inCluster: boolean): void {
  if (shortcut.kind === 'page') {
    const page = pagesFor(inCluster).find(({ key }) => key === shortcut.key);
    if (page) router.go(hrefOf(page.name));
  } else if (shortcut.kind === 'search') {
    document.querySelector<HTMLElement>(SEARCH)?.focus();
  } else if (shortcut.kind === 'back') {
    goUp(router);
  } else {
    visitRow(shortcut.kind === 'next' ? 1 : -1);
  }
}

/** Goes from something on a page to the page, and from a page of its own to that above. */
function goUp(router: Router): void {
  const { page, segments } = router.route.peek();
  const parent = pages.find(({ name }) => name === page)?.parent;
  if (segments.length > 1) router.go(hrefOf(page, segments.slice(0, -1)));
  else if (parent !== undefined) router.go(hrefOf(parent));
  else if (segments.length > 0) router.go(hrefOf(page));
}

function visitRow(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>(ROWS)];
  const focused = rows.findIndex((row) => row.contains(document.activeElement));
  // What a row has opened may have the focus: the next row is then the one after it.
  const current = focused === -1 ? rows.findIndex((row) => row.closest('tr.selected') !== null) : focused;
  const next = current === -1 ? rows[step === 1 ? 0 : rows.length - 1] : rows[current + step];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

const KEYS: readonly (readonly [keys: string, meaning: string])[] = [
  ['/', 'Search on this page'],
  ['j, k', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['Esc', 'Back, or close what is open'],
  ['?', 'This list'],
  ['Ctrl + and −', 'Larger and smaller text, in the terminal; Ctrl+0 is the usual size'],
  ['Ctrl+Shift+Esc', 'Leave the terminal, which gets all other keys'],
];

/** The keys of the dashboard. */
export function KeyHelp({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const { access } = useDashboard();
  const ofPages = pagesFor(access.inCluster).flatMap(({ key, title }) =>
    key === undefined ? [] : [[`g ${key}`, title] as const],
  );
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {[...KEYS, ...ofPages].map(([keys, meaning]) => (
          <div key={keys}>
            <dt>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
