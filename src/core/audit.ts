import { BoundedMap } from './bounded-map.js';
import type { SecretMask } from './secrets.js';
import type { AuditEvent } from './audit-events.js';
import type { ErrorCode } from './errors.js';
import { REQUEST_FACTS } from './protocol/request-facts.js';
import type { RequestName } from './protocol/requests.js';

/** SHA-256 of a text, in hexadecimal digits. */
export type Hash = (text: string) => string;

/** The end of a chain of records, to which the next record is appended. */
export interface ChainEnd {
  /** Number of the last record; 0 before the first. */
  readonly seq: number;
  readonly hash: string;
}

/** The previous hash that the very first record contains. */
export const GENESIS: ChainEnd = { seq: 0, hash: '0'.repeat(64) };

/** A record as written to the file: its line, without the line terminator, and the new end of the chain. */
export interface SealedRecord extends ChainEnd {
  readonly line: string;
}

export interface AuditRecord {
  readonly seq: number;
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly event: string;
  readonly prev: string;
  readonly hash: string;
  readonly [field: string]: unknown;
}

/** The last field of a line; the part before it is hashed. */
const HASH_FIELD = /^(\{.*),"hash":"([0-9a-f]{64})"\}$/s;

/**
 * Appends a record to a chain; `body` has at least one field. The hash covers the line without its hash field, which includes the hash of the previous
 * record: changing, removing or moving a record requires changing all that follow.
 */
export function sealRecord(time: string, body: object, end: ChainEnd, hash: Hash): SealedRecord {
  const seq = end.seq + 1;
  const fields = JSON.stringify(body).slice(1, -1);
  const text = `{"seq":${seq},"time":"${time}",${fields},"prev":"${end.hash}"`;
  const own = hash(`${text}}`);
  return { line: `${text},"hash":"${own}"}`, seq, hash: own };
}

/**
 * Parses a line as a record.
 * @returns the record, or the reason why the line is not a record
 */
export function readRecord(line: string, hash: Hash): AuditRecord | string {
  const [, before = '', own = ''] = HASH_FIELD.exec(line) ?? [];
  if (own === '') return 'it is no record';
  if (hash(`${before}}`) !== own) return 'it was changed: its hash does not fit its text';
  try {
    const { seq, time, event, prev } = JSON.parse(line) as Partial<AuditRecord>;
    const isWhole = Number.isSafeInteger(seq) && [time, event, prev].every((text) => typeof text === 'string');
    return isWhole ? (JSON.parse(line) as AuditRecord) : 'it lacks what every record has';
  } catch {
    // The hash matches, but the line is not JSON: it was made that way on purpose.
    return 'it is no record';
  }
}

export class ChainVerifier {
  readonly #hash: Hash;
  /** Undefined before the first record. */
  #end: ChainEnd | undefined;

  constructor(hash: Hash) {
    this.#hash = hash;
  }

  get end(): ChainEnd | undefined {
    return this.#end;
  }

  /**
   * Verifies the next line; returns its record, or the problem with it. The first line may be any record, because older
   * files are deleted.
   */
  take(line: string): AuditRecord | string {
    const record = readRecord(line, this.#hash);
    if (typeof record === 'string') return record;
    const fault = this.#faultOf(record);
    if (fault !== undefined) return fault;
    this.#end = { seq: record.seq, hash: record.hash };
    return record;
  }

  #faultOf({ seq, prev }: AuditRecord): string | undefined {
    const last = this.#end ?? (seq === 1 ? GENESIS : undefined);
    if (!last) return undefined;
    if (seq !== last.seq + 1) return `it is record ${seq}, and ${last.seq + 1} should be here`;
    return prev === last.hash ? undefined : 'it does not follow the record before it';
  }
}

/** Longest text of a command in a record, in characters: the hash covers the whole text. */
const MAX_COMMAND_CHARACTERS = 8192;

/** Renders the event-specific part of a record. Texts are masked, and the hash is that of the original. */
export function renderEvent(event: AuditEvent, mask: Pick<SecretMask, 'text' | 'value'>, hash: Hash): object {
  const { command, args, verdict, details } = event;
  return {
    event: event.event,
    principal: event.principal,
    from: event.from,
    request: event.request,
    session_id: event.session_id,
    command_id: event.command_id,
    outcome: event.outcome,
    ...(command !== undefined && renderCommand(mask.text(command))),
    command_sha256: command === undefined ? undefined : hash(command),
    ...(args && renderArguments(args.map(mask.text))),
    verdict: verdict && mask.value(verdict),
    details: details && mask.value(details),
  };
}

function renderCommand(text: string): { command: string; command_truncated?: true } {
  if (text.length <= MAX_COMMAND_CHARACTERS) return { command: text };
  return { command: text.slice(0, MAX_COMMAND_CHARACTERS), command_truncated: true };
}

function renderArguments(args: readonly string[]): { args: readonly string[]; args_truncated?: true } {
  let left = MAX_COMMAND_CHARACTERS;
  const shown = args.filter((arg) => (left -= arg.length + 1) >= 0);
  return shown.length === args.length ? { args } : { args: shown, args_truncated: true };
}

/**
 * Within this time a repeated event is only counted, and the count is recorded with the next one, so that a burst cannot
 * fill a log. In milliseconds.
 */
const REPEAT_MS = 1000;

const MAX_KNOWN = 1000;

/** Tells which events of a burst are recorded. Times are in milliseconds of one clock, of any kind. */
export class Repeats {
  readonly #known = new BoundedMap<string, { readonly at: number; left: number }>(MAX_KNOWN);

  /** Number of events of a kind left out before this one; undefined when this one is left out too. */
  countOf(kind: string, now: number): number | undefined {
    const known = this.#known.get(kind);
    if (known && now - known.at < REPEAT_MS) {
      known.left += 1;
      return undefined;
    }
    this.#known.set(kind, { at: now, left: 0 });
    return known?.left ?? 0;
  }
}

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

const REFUSALS: ReadonlySet<ErrorCode> = new Set(['FORBIDDEN', 'UNAUTHORIZED', 'RATE_LIMITED']);

export function isRecorded(name: RequestName, outcome: 'ok' | ErrorCode): boolean {
  const { recorded } = REQUEST_FACTS[name];
  if (recorded === 'each') return true;
  return outcome !== 'ok' && (recorded === 'failures' || REFUSALS.has(outcome));
}
