import { useSignal } from '@preact/signals';
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

import { type VirtualWindow, windowOf } from './virtual-window.js';

/** Rows beyond what is seen, on each side. */
const OVERSCAN = 12;

/** Follows the scrolling of an element; gives the rows that have to be in the document. All rows have one height. */
export function useVirtualWindow(
  rows: number,
  rowHeight: number,
): { readonly ref: RefObject<HTMLDivElement | null>; readonly window: VirtualWindow } {
  const ref = useRef<HTMLDivElement>(null);
  const view = useSignal({ scrollTop: 0, height: 600 });
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return undefined;
    const look = () => {
      view.value = { scrollTop: element.scrollTop, height: element.clientHeight };
    };
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, []);
  return { ref, window: windowOf({ ...view.value, rowHeight, rows, overscan: OVERSCAN }) };
}
