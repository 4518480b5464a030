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
  const { id, name } = (record['principal'] ?? {}) as { readonly id?: string; readonly name?: string };
  const time = Date.parse(record.time);
  return (
    fits(query.principal, (principal) => principal === id || principal === name) &&
    fits(query.session, (session) => record['session_id'] === session) &&
    fits(query.commandId, (commandId) => record['command_id'] === commandId) &&
    fits(query.event, (event) => record.event === event) &&
    fits(query.since, (since) => time >= since) &&
    fits(query.until, (until) => time <= until) &&
    fits(query.text, (text) => JSON.stringify(record).toLowerCase().includes(text.toLowerCase()))
  );
}

/** Whether a condition is met. One that is not given always is. */
const fits = <T>(wanted: T | undefined, isMet: (wanted: T) => boolean): boolean =>
  wanted === undefined || isMet(wanted);
