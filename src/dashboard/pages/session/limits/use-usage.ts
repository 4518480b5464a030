import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import type { SessionInfo } from '../../../../client/index.js';
import { useDashboard } from '../../../state/context.js';
import type { TerminalModel } from '../terminal/terminal-model.js';
import type { SeenWarning } from './warnings.js';

/** Most samples that are kept: 5 minutes, one a second. */
const MAX_SAMPLES = 300;
const MAX_WARNINGS = 100;

/** What a session has used since the page was opened. Times are in milliseconds. */
export interface UsageRecord {
  readonly samples: readonly { readonly at: number; readonly used: SessionInfo['usage'] }[];
  /** Limits that came near, or were exceeded; the newest first. */
  readonly warnings: readonly SeenWarning[];
}

/** Follows what a session uses. Warnings come to those alone that observe the session. */
export function useUsage(sessionId: string, model: Pick<TerminalModel, 'watch'>): UsageRecord {
  const { live, connection, clock } = useDashboard();
  const record = useSignal<UsageRecord>({ samples: [], warnings: [] });
  const now = clock.now.value;
  useEffect(() => {
    const used = live.sessions.peek()?.get(sessionId)?.usage ?? null;
    const samples = [...record.peek().samples, { at: now, used }].slice(-MAX_SAMPLES);
    record.value = { ...record.peek(), samples };
  }, [now]);
  useEffect(() => {
    void model.watch();
  }, [model]);
  useEffect(
    () =>
      connection.client.on('resource_warning', (warning) => {
        if (warning.session_id !== sessionId) return;
        const warnings = [{ at: Date.now(), warning }, ...record.peek().warnings].slice(0, MAX_WARNINGS);
        record.value = { ...record.peek(), warnings };
      }),
    [sessionId],
  );
  return record.value;
}
