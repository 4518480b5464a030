/** SHA-256 of a text, in hexadecimal digits. */
export type Hash = (text: string) => string;

/** The end of a chain of records: where the next one is joined. */
export interface ChainEnd {
  /** Number of the last record; 0 before the first. */
  readonly seq: number;
  /** Its hash. */
  readonly hash: string;
}

/** What the first record of all names as the hash of the one before it. */
export const GENESIS: ChainEnd = { seq: 0, hash: '0'.repeat(64) };

/** A record as it stands in the file: its line, without the end of line, and the new end of the chain. */
export interface SealedRecord extends ChainEnd {
  readonly line: string;
}

/** A record that was read, with what every one has. */
export interface AuditRecord {
  readonly seq: number;
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly event: string;
  readonly prev: string;
  readonly hash: string;
  readonly [field: string]: unknown;
}

/** The last field of a line: what is before it was hashed. */
const HASH_FIELD = /^(\{.*),"hash":"([0-9a-f]{64})"\}$/s;

/**
 * Joins a record to a chain. The hash is that of the line without it, which has the hash of the record before: who changes,
 * removes or moves one has to change all that follow.
 */
export function sealRecord(time: string, body: object, end: ChainEnd, hash: Hash): SealedRecord {
  const seq = end.seq + 1;
  const text = JSON.stringify({ seq, time, ...body, prev: end.hash });
  const own = hash(text);
  return { line: `${text.slice(0, -1)},"hash":"${own}"}`, seq, hash: own };
}

/** A line as a record, or why it is none. */
export function readRecord(line: string, hash: Hash): AuditRecord | string {
  const [, before = '', own = ''] = HASH_FIELD.exec(line) ?? [];
  if (own === '') return 'it is no record';
  if (hash(`${before}}`) !== own) return 'it was changed: its hash does not fit its text';
  try {
    const { seq, time, event, prev } = JSON.parse(line) as Partial<AuditRecord>;
    const isWhole = Number.isSafeInteger(seq) && [time, event, prev].every((text) => typeof text === 'string');
    return isWhole ? (JSON.parse(line) as AuditRecord) : 'it lacks what every record has';
  } catch {
    // No JSON, though the hash fits: somebody has made it so.
    return 'it is no record';
  }
}

/** Follows a chain, record by record. */
export class ChainVerifier {
  readonly #hash: Hash;
  /** Undefined before the first record. */
  #end: ChainEnd | undefined;

  constructor(hash: Hash) {
    this.#hash = hash;
  }

  /** Where the chain ends so far. */
  get end(): ChainEnd | undefined {
    return this.#end;
  }

  /** Takes the next line: gives its record, or what is wrong with it. The first one may be any: older files go. */
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
