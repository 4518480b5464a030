import { setImmediate as eventLoop } from 'node:timers/promises';

import { type AuditRecord, readRecord } from '../../core/audit/chain.js';
import { type AuditQuery, matchesQuery } from '../../core/audit/select.js';
import { AdapterError } from '../../core/errors.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import { listAuditFiles, sha256 } from '../../engine/audit/files.js';
import { type BackwardLine, readLinesBackwards } from '../../engine/audit/read-backwards.js';
import { verifyAudit } from '../../engine/audit/verify.js';
import { KeptResult } from '../machine/kept-result.js';

const DEFAULT_LIMIT = 100;
/** Longest time that one request reads, in milliseconds; `next` then leads on. */
const MAX_WORK_MS = 500;
/** Longest time that a request blocks the event loop, in milliseconds. */
const SLICE_MS = 4;

/** Reads and verifies the audit log of this daemon, for clients. */
export class AuditLog {
  readonly #path: string | undefined;
  readonly #lastSeq: () => number;
  readonly #verification: KeptResult<Answer<'verify_audit'>>;

  /**
   * @param path path of the newest file; undefined when nothing is recorded
   * @param lastSeq number of the last written record
   */
  constructor(path: string | undefined, lastSeq: () => number) {
    this.#path = path;
    this.#lastSeq = lastSeq;
    this.#verification = new KeptResult(() => verify(this.#existing()));
  }

  /** Whether anything is recorded. */
  get isEnabled(): boolean {
    return this.#path !== undefined;
  }

  /** Number of the last written record. */
  get lastSeq(): number {
    return this.#lastSeq();
  }

  /**
   * Returns records, the newest first. Only as much is read as is returned, from the end.
   * @throws AdapterError INVALID_REQUEST when nothing is recorded
   */
  async read(request: Request<'read_audit'>): Promise<Answer<'read_audit'>> {
    const { before = Infinity, limit = DEFAULT_LIMIT } = request;
    const query = queryOf(request);
    const page: Page = { records: [], unreadable: 0, next: before };
    let deadline = Infinity;
    let pauseAt = performance.now() + SLICE_MS;
    for await (const line of linesBackwards(this.#existing())) {
      const age = noteLine(page, line, query);
      if (age === 'too_old') break;
      // What is skipped does not count: each page leads on.
      if (age === 'in_range') deadline = Math.min(deadline, performance.now() + MAX_WORK_MS);
      if (page.records.length === limit || performance.now() > deadline) return render(page, page.next);
      if (performance.now() < pauseAt) continue;
      await eventLoop();
      pauseAt = performance.now() + SLICE_MS;
    }
    return render(page, null);
  }

  /**
   * Verifies the hash chain.
   * @throws AdapterError INVALID_REQUEST when nothing is recorded
   */
  async verify(): Promise<Answer<'verify_audit'>> {
    this.#existing();
    return await this.#verification.get();
  }

  #existing(): string {
    if (this.#path !== undefined) return this.#path;
    throw new AdapterError(
      'INVALID_REQUEST',
      'this daemon records nothing: its configuration has audit.enabled: false',
    );
  }
}

/** A page of records that is being collected. */
interface Page {
  readonly records: AuditRecord[];
  unreadable: number;
  /** The lowest number that was seen; at first that of the request. */
  next: number;
}

const render = ({ records, unreadable }: Page, next: number | null): Answer<'read_audit'> => ({
  records,
  unreadable,
  next: next === 1 ? null : next,
});

/** Where a record is: newer than the page, within its time, or so old that all further ones are too old. */
type Age = 'too_new' | 'in_range' | 'too_old';

/** Adds the record of a line, if it matches. A rotation meanwhile may show records twice: only older ones count. */
function noteLine(page: Page, { text, isWhole }: BackwardLine, query: AuditQuery): Age {
  // Without hashing and parsing what is not wanted anyway.
  if (Number(/^\{"seq":(\d+),/.exec(text)?.[1]) >= page.next) return 'too_new';
  const record = readRecord(text, sha256);
  if (typeof record === 'string') {
    if (isWhole) page.unreadable += 1;
    return 'in_range';
  }
  page.next = record.seq;
  if (matchesQuery(record, query)) page.records.push(record);
  return Date.parse(record.time) < (query.since ?? -Infinity) - CLOCK_STEP_MS ? 'too_old' : 'in_range';
}

/** Records are in order of their numbers; their times may step back when the clock is set, in milliseconds. */
const CLOCK_STEP_MS = 3_600_000;

async function* linesBackwards(path: string) {
  for (const file of listAuditFiles(path).reverse()) yield* readLinesBackwards(file);
}

const queryOf = ({ principal, event, text, ...rest }: Request<'read_audit'>): AuditQuery => ({
  principal,
  event,
  text,
  session: rest.session_id,
  commandId: rest.command_id,
  since: timeOf(rest.since),
  until: timeOf(rest.until),
});

const timeOf = (time: string | undefined): number | undefined => (time === undefined ? undefined : Date.parse(time));

async function verify(path: string): Promise<Answer<'verify_audit'>> {
  const { ok, records, first_seq: from, last_seq: to, fault, gaps } = await verifyAudit(path);
  const problems = gaps.map(({ seq, time, details }) => `gap at record ${seq} (${time}): ${JSON.stringify(details)}`);
  if (fault) {
    const place = fault.line === null ? fault.file : `${fault.file}:${fault.line}`;
    problems.push(`${place}: after record ${fault.after_seq}: ${fault.why}`);
  }
  return { ok, records, from, to, problems, checked_at: new Date().toISOString() };
}
