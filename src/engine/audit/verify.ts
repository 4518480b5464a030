import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { type AuditRecord, type ChainEnd, ChainVerifier } from '../../core/audit.js';
import { headOf, listAuditFiles, listStanding, readHead, readLines, sha256 } from './files.js';

/** Longest time between the first record of a log and its head, in milliseconds. */
const FIRST_HEAD_MS = 200;

/** The first break of a chain. */
interface AuditFault {
  readonly file: string;
  /** From 1; null when something is missing at the end. */
  readonly line: number | null;
  /** Number of the last valid record; 0 for none. */
  readonly after_seq: number;
  readonly why: string;
}

/** Result of the verification of an audit log. */
export interface AuditFindings {
  readonly ok: boolean;
  readonly files: readonly string[];
  readonly records: number;
  /** Number of the first existing record; above 1 when older files are gone. Null when there is none. */
  readonly first_seq: number | null;
  readonly last_seq: number | null;
  /** Records that report a gap. */
  readonly gaps: readonly AuditRecord[];
  readonly fault: AuditFault | null;
}

/** Reasons of gaps that indicate manipulation, or a disk that has lost written data. */
const SUSPICIOUS = new Set(['truncated', 'replaced', 'changed', 'unreadable', 'head_missing']);

/** Largest number of walks over a log that is rotated during each of them. */
const MAX_WALKS = 5;

/** Walks over the files of an audit log, the oldest first, up to the first invalid record. */
export async function verifyAudit(path: string): Promise<AuditFindings> {
  for (let walks = 1; ; walks += 1) {
    const before = namesOf(path);
    const findings = await walk(path).catch((error: unknown) => error as Error);
    // Files that were renamed during the walk may have been missed, or read twice.
    const isMoved = namesOf(path) !== before && walks < MAX_WALKS;
    if (findings instanceof Error) {
      if (!isMoved) throw findings;
    } else if (findings.fault === null || !isMoved) return findings;
  }
}

const namesOf = (path: string): string =>
  listStanding(path)
    .map(({ path: file, ino }) => `${file} ${ino}`)
    .join('\n');

async function walk(path: string): Promise<AuditFindings> {
  // Read before the files: the writer writes the head after them.
  const head = readHead(path) ?? (await headSoon(path));
  return new AuditWalk(path, head).run();
}

/** One walk over the files of an audit log. */
class AuditWalk {
  readonly #path: string;
  readonly #head: ChainEnd | undefined;
  readonly #files: readonly string[];
  readonly #verifier = new ChainVerifier(sha256);
  readonly #gaps: AuditRecord[] = [];
  #records = 0;
  #firstSeq: number | null = null;
  /** Hash of the record that the head file mentions; undefined when no such record was read. */
  #headHash: string | undefined;

  constructor(path: string, head: ChainEnd | undefined) {
    this.#path = path;
    this.#head = head;
    this.#files = listAuditFiles(path);
  }

  async run(): Promise<AuditFindings> {
    for (const file of this.#files) {
      const fault = await this.#read(file);
      if (fault) return this.#findings(fault);
    }
    const why = this.#whyEndDiffers();
    return this.#findings(why === undefined ? null : this.#faultAt(this.#path, null, why));
  }

  /** Verifies the records of a file; returns the first break of the chain. */
  async #read(file: string): Promise<AuditFault | undefined> {
    let line = 0;
    for await (const { text, isWhole } of readLines(file)) {
      line += 1;
      // Being written, or torn: the head file shows what was torn off.
      if (!isWhole && file === this.#path) break;
      const record = this.#verifier.take(text);
      if (typeof record === 'string') return this.#faultAt(file, line, record);
      this.#note(record);
    }
    return undefined;
  }

  #note(record: AuditRecord): void {
    this.#records += 1;
    this.#firstSeq ??= record.seq;
    if (record.seq === this.#head?.seq) this.#headHash = record.hash;
    if (record.event === 'gap') this.#gaps.push(record);
  }

  /** Why the end of the records is not the one that the head file mentions; undefined when it is. */
  #whyEndDiffers(): string | undefined {
    const head = this.#head;
    const end = this.#lastSeq;
    if (!head) {
      if (end === 0) return undefined;
      return `the head file is ${existsSync(headOf(this.#path)) ? 'not what was written' : 'missing'}`;
    }
    if (end < head.seq) return `the records ${end + 1} to ${head.seq} were there and are missing`;
    const isSame = this.#headHash === undefined || this.#headHash === head.hash;
    return isSame ? undefined : `record ${head.seq} is not the one that was written`;
  }

  /** Number of the last valid record; 0 for none. */
  get #lastSeq(): number {
    return this.#verifier.end?.seq ?? 0;
  }

  #faultAt(file: string, line: number | null, why: string): AuditFault {
    return { file, line, after_seq: this.#lastSeq, why };
  }

  #findings(fault: AuditFault | null): AuditFindings {
    const isSound = this.#gaps.every(({ details }) => !isSuspicious(details));
    return {
      ok: fault === null && isSound,
      files: this.#files,
      records: this.#records,
      first_seq: this.#firstSeq,
      last_seq: this.#verifier.end?.seq ?? null,
      gaps: this.#gaps,
      fault,
    };
  }
}

/** The first record of a new log is written a moment before its head. */
async function headSoon(path: string): Promise<ChainEnd | undefined> {
  if (!existsSync(path)) return undefined;
  await sleep(FIRST_HEAD_MS);
  return readHead(path);
}

function isSuspicious(details: unknown): boolean {
  const { reason } = (details ?? {}) as { readonly reason?: unknown };
  return typeof reason === 'string' && SUSPICIOUS.has(reason);
}
