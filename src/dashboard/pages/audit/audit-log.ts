import { type ReadonlySignal, signal } from '@preact/signals';

import type { EventPayload } from '../../../client/index.js';
import { matchesQuery } from '../../../core/audit.js';
import type { DaemonConnection } from '../../state/connection.js';
import { messageOf } from '../../state/message.js';
import { auditCondition, type AuditRequest } from './audit-query.js';
import type { AuditRecord } from './record-text.js';

/** Records of one page. */
const PAGE_SIZE = 200;
/** Most records that are kept while the log is followed. */
const MAX_RECORDS = 5000;

/** What the page has of the log. */
export interface AuditState {
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
