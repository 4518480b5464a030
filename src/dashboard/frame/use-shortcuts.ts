import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { pages, pagesFor } from '../pages/pages.js';
import { hrefOf } from '../router/route.js';
import type { Router } from '../router/router.js';
import { useDashboard } from '../state/context.js';
import { type Shortcut, Shortcuts } from './shortcuts.js';
import { takesText } from '../components/takes-text.js';

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
