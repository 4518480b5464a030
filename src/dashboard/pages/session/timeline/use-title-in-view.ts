import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** The link of what is selected already: to follow it again changes no address. */
const SELECTED = 'tr.selected a[data-row]';

/**
 * Gives the ref of the title of what is selected, and brings that title into view, at once and no further than needed. The title is
 * focused as well, except for what was selected when the page was opened: Tab goes on from there, and screen readers say it.
 */
export function useTitleInView(selected: string | undefined, isShown: boolean): RefObject<HTMLHeadingElement | null> {
  const title = useRef<HTMLHeadingElement>(null);
  const before = useRef(selected);
  useEffect(() => {
    show(title.current, { isFocused: selected !== before.current });
    before.current = selected;
  }, [selected, isShown]);
  useEffect(() => {
    const onClick = ({ target }: MouseEvent) => {
      if (target instanceof Element && target.closest(SELECTED)) show(title.current, { isFocused: true });
    };
    document.addEventListener('click', onClick);
    return () => document.removeEventListener('click', onClick);
  }, []);
  return title;
}

function show(title: HTMLElement | null, { isFocused }: { readonly isFocused: boolean }): void {
  if (isFocused) title?.focus({ preventScroll: true });
  title?.scrollIntoView({ block: 'nearest', behavior: 'instant' });
}
