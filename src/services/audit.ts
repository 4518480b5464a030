import { type AuditQuery, type AuditRecord, matchesQuery, readRecord, Repeats } from '../core/audit.js';
import { type AuditEvent, auditPrincipal, type AuditTrail } from '../core/audit-events.js';
import { isRecorded } from '../core/audit.js';
import { AdapterError, type ErrorBody } from '../core/errors.js';
import type { Answer, Request, RequestName } from '../core/protocol/requests.js';
import { listAuditFiles, sha256 } from '../engine/audit/files.js';
import { type BackwardLine, readLinesBackwards } from '../engine/audit/read-backwards.js';
import { verifyAudit } from '../engine/audit/verify.js';
import { Slices } from '../engine/system/promises.js';
import { KeptResult } from './machine/kept-result.js';
import type { Caller } from './registry/caller.js';

const DEFAULT_LIMIT = 100;
/** Longest time that one request reads, in milliseconds; `next` then leads on. */
const MAX_WORK_MS = 500;

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
    const slices = new Slices();
    for await (const line of linesBackwards(this.#existing())) {
      const age = noteLine(page, line, query);
      if (age === 'too_old') break;
      // What is skipped does not count: each page leads on.
      if (age === 'in_range') deadline = Math.min(deadline, performance.now() + MAX_WORK_MS);
      if (page.records.length === limit || performance.now() > deadline) return render(page, page.next);
      if (slices.isOver) await slices.next();
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

/** The parts of answers that are recorded. */
interface AuditedReply {
  readonly error?: ErrorBody;
  readonly session_id?: unknown;
  /**
   * Present in answers to chunks of a streamed input: these are not recorded; the end of their command is, with the
   * number of bytes.
   */
  readonly stdin_bytes?: unknown;
}

/** Records requests when they are answered. */
export class RequestAudit {
  readonly #audit: AuditTrail;
  readonly #repeats = new Repeats();

  constructor(audit: AuditTrail) {
    this.#audit = audit;
  }

  /**
   * Records a request and its answer.
   * @param payload as received: any value
   */
  answered(request: RequestName, payload: unknown, reply: AuditedReply, caller: Caller): void {
    const outcome = reply.error?.code ?? 'ok';
    if (!isRecorded(request, outcome) || reply.stdin_bytes !== undefined) return;
    const repeated =
      outcome === 'ok' ? 0 : this.#repeats.countOf(`${caller.principal.id} ${request} ${outcome}`, performance.now());
    if (repeated === undefined) return;
    const fields = fieldsOf(payload);
    this.#audit.record({
      event: 'request',
      principal: auditPrincipal(caller.principal),
      from: caller.from,
      request,
      session_id: textOf(fields['session_id']) ?? textOf(reply.session_id),
      command_id: textOf(fields['command_id']),
      command: textOf(fields['command']),
      outcome,
      details: { ...detailsOf(fields), ...(repeated > 0 && { repeated }) },
    });
  }
}

const fieldsOf = (payload: unknown): Readonly<Record<string, unknown>> =>
  typeof payload === 'object' && payload !== null ? (payload as Record<string, unknown>) : {};

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Short fields that show the purpose of a request. Typed text is never recorded, only its length. */
function detailsOf(fields: Readonly<Record<string, unknown>>): NonNullable<AuditEvent['details']> {
  const details: Record<string, unknown> = {};
  for (const name of SHOWN) if (SHOWN_TYPES.includes(typeof fields[name])) details[name] = fields[name];
  const { data, env, paths, bytes } = fields;
  if (typeof data === 'string') details['typed_bytes'] = Buffer.byteLength(data);
  if (data instanceof Uint8Array) details['bytes'] = data.length;
  if (typeof bytes === 'number') details['bytes'] = bytes;
  if (typeof env === 'object' && env !== null) details['environment'] = Object.keys(env).slice(0, MAX_LISTED);
  if (Array.isArray(paths)) details['paths'] = paths.slice(0, MAX_LISTED);
  return details;
}

const SHOWN = [
  'cwd',
  'path',
  'to',
  'mode',
  'method',
  'port',
  'recursive',
  'shell',
  'label',
  'signal',
  'eof',
  'checkpoint_id',
  'sandbox',
  'provider',
  'shell_provider',
  'model',
  'call_id',
  'name',
  'name_or_id',
  'role',
  'expires_in',
] as const;
const SHOWN_TYPES: readonly string[] = ['string', 'boolean', 'number'];
const MAX_LISTED = 32;
