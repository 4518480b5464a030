import { type ReadonlySignal, signal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';

import type { Answer, EventPayload } from '../../client/index.js';
import { type AuditQuery, matchesQuery } from '../../core/audit.js';
import type { Tone } from '../components/tone.js';
import type { Route } from '../route.js';
import type { DaemonConnection } from '../state/connection.js';
import { useDashboard } from '../state/context.js';
import { messageOf } from '../state/use-answer.js';

/** Filters of the page, as the address has them. Times are those of the field: local, without a zone. */
export const FILTERS = ['text', 'event', 'principal', 'session_id', 'command_id', 'since', 'until'] as const;

/** Name of a filter. */
export type Filter = (typeof FILTERS)[number];

/** A request for records, without the place where it begins. */
type AuditRequest = { readonly [F in Filter | 'node']?: string };

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
const auditCondition = ({ text, event, principal, ...request }: AuditRequest): AuditQuery => ({
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

/** A record of the audit log. */
export type AuditRecord = Answer<'read_audit'>['records'][number];

/** The name of the token that caused a record; empty for the daemon itself. */
export function principalOf(record: AuditRecord): string {
  const { name } = (record['principal'] ?? {}) as { readonly name?: string };
  return name ?? '';
}

/** A field of a record that is a text; empty otherwise. */
export const textOf = (record: AuditRecord, field: string): string => {
  const value = record[field];
  return typeof value === 'string' ? value : '';
};

/** The most telling of a record in one line: what was asked for, and what came of it. */
export function summaryOf(record: AuditRecord): string {
  const { reasons = [] } = (record['verdict'] ?? {}) as { readonly reasons?: readonly string[] };
  const args = Array.isArray(record['args']) ? record['args'].map(String) : [];
  const command = [textOf(record, 'command'), ...args].filter(Boolean).join(' ');
  const parts = [textOf(record, 'request'), command, reasons[0] ?? '', detailOf(record)];
  return parts.filter(Boolean).join(', ');
}

/** What a record says came of it: its outcome, or the action of a verdict. */
export function outcomeOf(record: AuditRecord): { readonly text: string; readonly tone: Tone } | undefined {
  const { action } = (record['verdict'] ?? {}) as { readonly action?: string };
  const text = textOf(record, 'outcome') || (action ?? '');
  return text === '' ? undefined : { text, tone: TONES[text] ?? (/^[A-Z_]+$/.test(text) ? 'bad' : 'neutral') };
}

const TONES: { readonly [text: string]: Tone } = {
  ok: 'good',
  approved: 'good',
  allow: 'good',
  checkpoint: 'info',
  confirm: 'warn',
  asked: 'warn',
  deny: 'bad',
  rejected: 'bad',
};

/** Details in a few words: those that are texts or numbers. */
function detailOf(record: AuditRecord): string {
  const details = Object.entries((record['details'] ?? {}) as Readonly<Record<string, unknown>>);
  return details
    .filter(([, value]) => ['string', 'number', 'boolean'].includes(typeof value) && value !== '')
    .slice(0, 3)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join(', ');
}

/** Records of one page. */
const PAGE_SIZE = 200;
/** Most records that are kept while the log is followed. */
const MAX_RECORDS = 5000;

/** What the page has of the log. */
interface AuditState {
  /** The newest first; undefined before the first page. */
  readonly records: readonly AuditRecord[] | undefined;
  /** Where older ones begin; null at the end of the log. */
  readonly next: number | null;
  readonly isLoading: boolean;
  readonly problem: string | undefined;
  /** Lines of the files that are no records. */
  readonly unreadable: number;
  /** Records that were left out while following. */
  readonly skipped: number;
}

const NOTHING: AuditState = {
  records: undefined,
  next: null,
  isLoading: true,
  problem: undefined,
  unreadable: 0,
  skipped: 0,
};

/** The records of the audit log that match a request: page by page, and new ones as they come. */
export class AuditLog {
  readonly #state = signal(NOTHING);
  readonly #connection: Pick<DaemonConnection, 'request'>;
  readonly #request: AuditRequest;

  constructor(connection: Pick<DaemonConnection, 'request'>, request: AuditRequest) {
    this.#connection = connection;
    this.#request = request;
  }

  /** What has been read. */
  get state(): ReadonlySignal<AuditState> {
    return this.#state;
  }

  /** Reads the newest page, in place of all. */
  start(): Promise<void> {
    return this.#read(undefined);
  }

  /** Reads the next older page. */
  async readOlder(): Promise<void> {
    const { next, isLoading } = this.#state.peek();
    if (next !== null && !isLoading) await this.#read(next);
  }

  /** Adds new records that match. */
  add({ records, skipped }: EventPayload<'audit_records'>): void {
    const state = this.#state.peek();
    if (!state.records) return;
    const condition = auditCondition(this.#request);
    const newest = state.records[0]?.seq ?? 0;
    const added = records.filter((record) => record.seq > newest && matchesQuery(record, condition)).reverse();
    const kept = [...added, ...state.records].slice(0, MAX_RECORDS);
    this.#state.value = { ...state, records: kept, skipped: state.skipped + skipped };
  }

  async #read(before: number | undefined): Promise<void> {
    this.#state.value = { ...this.#state.peek(), isLoading: true, problem: undefined };
    try {
      const answer = await this.#connection.request('read_audit', { ...this.#request, before, limit: PAGE_SIZE });
      const { records, next, unreadable } = answer;
      const known = before === undefined ? NOTHING : this.#state.peek();
      const all = [...(known.records ?? []), ...records];
      this.#state.value = { ...known, records: all, next, unreadable: known.unreadable + unreadable, isLoading: false };
    } catch (error) {
      this.#state.value = { ...this.#state.peek(), isLoading: false, problem: messageOf(error) };
    }
  }
}

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
