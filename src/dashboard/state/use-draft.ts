import type { Signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';

import { useDashboard } from './context.js';

/** The text of a field, which is kept until it is sent. `key` names the field and what it is about. */
export function useDraft(key: string): Signal<string> {
  const { drafts } = useDashboard();
  return useMemo(() => drafts.of(key), [key]);
}
