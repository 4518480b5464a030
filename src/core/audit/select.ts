import type { AuditRecord } from './chain.js';

/** What is looked for in an audit log. A record has to fit all that is given. */
export interface AuditQuery {
  /** Name or id. */
  readonly principal?: string | undefined;
  readonly session?: string | undefined;
  readonly commandId?: string | undefined;
  readonly event?: string | undefined;
  /** In milliseconds since 1970, both included. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
  /** Found anywhere in the record, whatever the case of its letters. */
  readonly text?: string | undefined;
}

/** Whether a record fits. */
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
