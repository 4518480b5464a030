import type { JSX } from 'preact';

import { Dialog } from '../components/dialog.js';
import { pagesFor } from '../pages/pages.js';
import { useDashboard } from '../state/context.js';

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
