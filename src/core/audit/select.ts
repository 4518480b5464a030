import type { AuditRecord } from './chain.js';

/** Query of an audit log. A record has to match all given conditions. */
export interface AuditQuery {
  /** Name or id. */
  readonly principal?: string | undefined;
  readonly session?: string | undefined;
  readonly commandId?: string | undefined;
  readonly event?: string | undefined;
  /** In milliseconds since 1970, both included. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Matches anywhere in the record, ignoring case. */
  readonly text?: string | undefined;
}

/** Whether a record matches. */
export function matchesQuery(record: AuditRecord, query: AuditQuery): boolean {
  const { principal: who, session, commandId, event, since, until, text } = query;
  const { id, name } = (record['principal'] ?? {}) as { readonly id?: string; readonly name?: string };
  const time = Date.parse(record.time);
  return (
    (who === undefined || who === id || who === name) &&
    (session === undefined || record['session_id'] === session) &&
    (commandId === undefined || record['command_id'] === commandId) &&
    (event === undefined || record.event === event) &&
    (since === undefined || time >= since) &&
    (until === undefined || time <= until) &&
    (text === undefined || JSON.stringify(record).toLowerCase().includes(text.toLowerCase()))
  );
}
