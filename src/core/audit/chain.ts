/** SHA-256 of a text, in hexadecimal digits. */
export type Hash = (text: string) => string;

/** The end of a chain of records, to which the next record is appended. */
export interface ChainEnd {
  /** Number of the last record; 0 before the first. */
  readonly seq: number;
  /** Hash of the last record. */
  readonly hash: string;
}

/** The previous hash that the very first record contains. */
export const GENESIS: ChainEnd = { seq: 0, hash: '0'.repeat(64) };

/** A record as written to the file: its line, without the line terminator, and the new end of the chain. */
export interface SealedRecord extends ChainEnd {
  readonly line: string;
}

/** A record that was read, with the fields that every record has. */
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

/** Verifies a chain, record by record. */
export class ChainVerifier {
  readonly #hash: Hash;
  /** Undefined before the first record. */
  #end: ChainEnd | undefined;

  constructor(hash: Hash) {
    this.#hash = hash;
  }

  /** The end of the chain so far. */
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
