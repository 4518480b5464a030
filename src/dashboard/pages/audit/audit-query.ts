import type { AuditQuery } from '../../../core/audit.js';
import type { Route } from '../../router/route.js';

/** Filters of the page, as the address has them. Times are those of the field: local, without a zone. */
export const FILTERS = ['text', 'event', 'principal', 'session_id', 'command_id', 'since', 'until'] as const;

/** Name of a filter. */
export type Filter = (typeof FILTERS)[number];

/** A request for records, without the place where it begins. */
export type AuditRequest = { readonly [F in Filter | 'node']?: string };

/** Builds the request for the filters of the address; empty ones, and times that are none, are left out. */
export function auditRequest(query: Route['query']): AuditRequest {
  const given = FILTERS.flatMap((name) => {
    const text = query[name]?.trim() ?? '';
    const value = name === 'since' || name === 'until' ? timeOf(text, name) : text;
    return value === '' ? [] : [[name, value] as const];
  });
  return Object.fromEntries(given);
}

/** Builds the condition that new records have to meet. */
export const auditCondition = ({ text, event, principal, ...request }: AuditRequest): AuditQuery => ({
  text,
  event,
  principal,
  session: request.session_id,
  commandId: request.command_id,
  since: request.since === undefined ? undefined : Date.parse(request.since),
  until: request.until === undefined ? undefined : Date.parse(request.until),
});

/** A field shows minutes: the last one counts to its end. */
function timeOf(text: string, name: 'since' | 'until'): string {
  const at = Date.parse(text);
  if (Number.isNaN(at)) return '';
  return new Date(name === 'until' && /T\d\d:\d\d$/.test(text) ? at + 59_999 : at).toISOString();
}
