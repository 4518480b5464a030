import { useEffect, useMemo } from 'preact/hooks';

import { useDashboard } from '../../state/context.js';
import { AuditLog } from './audit-log.js';
import type { AuditRequest } from './audit-query.js';

/** How long a filter waits for the next key, in milliseconds. */
const DEBOUNCE_MS = 250;

/** Reads the records that match, again when the filters have changed, and follows the log if that is wanted. */
export function useAuditLog(request: AuditRequest, isFollowing: boolean): AuditLog {
  const { connection, live } = useDashboard();
  const key = JSON.stringify(request);
  const log = useMemo(() => new AuditLog(connection, JSON.parse(key) as AuditRequest), [key]);
  const isConnected = connection.status.value.kind === 'connected';
  useEffect(() => {
    if (!isConnected) return undefined;
    const timer = setTimeout(() => void log.start(), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [log, isConnected]);
  useEffect(() => {
    if (!isFollowing) return undefined;
    const stopListening = connection.client.on('audit_records', (event) => {
      log.add(event);
    });
    const stopWanting = live.want('audit');
    return () => {
      stopListening();
      stopWanting();
    };
  }, [log, isFollowing]);
  return log;
}
