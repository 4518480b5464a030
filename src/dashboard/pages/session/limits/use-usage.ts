import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import type { SessionInfo } from '../../../../client/index.js';
import { useDashboard } from '../../../state/context.js';

/** Most samples that are kept: 5 minutes, one a second. */
const MAX_SAMPLES = 300;
const MAX_MARKS = 100;

/** What a session has used since the page was opened. Times are in milliseconds. */
export interface UsageRecord {
  readonly samples: readonly { readonly at: number; readonly used: SessionInfo['usage'] }[];
  /** Limits that came near, or were exceeded. */
  readonly marks: readonly { readonly at: number; readonly text: string }[];
}

/** Follows what a session uses. */
export function useUsage(sessionId: string): UsageRecord {
  const { live, connection, clock } = useDashboard();
  const record = useSignal<UsageRecord>({ samples: [], marks: [] });
  const now = clock.now.value;
  useEffect(() => {
    const used = live.sessions.peek()?.get(sessionId)?.usage ?? null;
    const samples = [...record.peek().samples, { at: now, used }].slice(-MAX_SAMPLES);
    record.value = { ...record.peek(), samples };
  }, [now]);
  useEffect(
    () =>
      connection.client.on('resource_warning', ({ session_id: id, level, resource, observed, limit }) => {
        if (id !== sessionId) return;
        const mark = { at: Date.now(), text: `${resource}: ${observed} of ${limit} (${level})` };
        record.value = { ...record.peek(), marks: [mark, ...record.peek().marks].slice(0, MAX_MARKS) };
      }),
    [sessionId],
  );
  return record.value;
}
