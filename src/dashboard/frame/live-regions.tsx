import type { JSX } from 'preact';

import { useDashboard } from '../state/context.js';

/** Texts for screen readers alone. */
export function LiveRegions(): JSX.Element {
  const { notices } = useDashboard();
  return (
    <div class="hidden">
      <div aria-live="polite">{notices.polite.value}</div>
      <div aria-live="assertive">{notices.assertive.value}</div>
    </div>
  );
}
