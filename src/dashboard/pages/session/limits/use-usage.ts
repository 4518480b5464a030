import { type ReadonlySignal, useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { useDashboard } from '../../../state/context.js';
import type { TerminalModel } from '../terminal/terminal-model.js';
import { EMPTY_RECORD, type UsageRecord, withSample, withWarning } from './usage-record.js';

/**
 * Records what a session uses, and the warnings of its limits, for as long as the caller is shown. Only what reads the value of the
 * signal is rendered again with each sample. Warnings come to those alone who observe the session: the terminal does, seen or not.
 */
export function useUsage(sessionId: string, model: Pick<TerminalModel, 'watch'>): ReadonlySignal<UsageRecord> {
  const { live, connection, clock } = useDashboard();
  const record = useSignal(EMPTY_RECORD);
  useSignalEffect(() => {
    const at = clock.now.value;
    const used = live.sessions.peek()?.get(sessionId)?.usage ?? null;
    record.value = withSample(record.peek(), { at, used });
  });
  useEffect(
    () =>
      connection.client.on('resource_warning', (warning) => {
        if (warning.session_id === sessionId) record.value = withWarning(record.peek(), { at: Date.now(), warning });
      }),
    [sessionId],
  );
  useEffect(() => {
    void model.watch();
  }, [model]);
  return record;
}
