import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';

/** How long a button has to be in its place before it works, in milliseconds: a click may have been meant for another. */
const SETTLE_MS = 700;

/** Whether a card has been in its place for long enough. `place` changes when it may have moved. */
export function useSettled(place: string): boolean {
  const settled = useSignal<string | undefined>(undefined);
  useLayoutEffect(() => {
    const timer = setTimeout(() => {
      settled.value = place;
    }, SETTLE_MS);
    return () => clearTimeout(timer);
  }, [place]);
  return settled.value === place;
}
