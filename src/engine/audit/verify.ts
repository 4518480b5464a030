import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { type AuditRecord, type ChainEnd, ChainVerifier } from '../../core/audit/chain.js';
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
  const verifier = new ChainVerifier(sha256);
  // Read before the files: the writer writes the head after them.
  const head = readHead(path) ?? (await headSoon(path));
  const files = listAuditFiles(path);
  const gaps: AuditRecord[] = [];
  let records = 0;
  let firstSeq: number | null = null;
  let headHash: string | undefined;
  const findings = (fault: AuditFault | null): AuditFindings => {
    const isSound = gaps.every(({ details }) => !isSuspicious(details));
    const seqs = { first_seq: firstSeq, last_seq: verifier.end?.seq ?? null };
    return { ok: fault === null && isSound, files, records, ...seqs, gaps, fault };
  };
  for (const file of files) {
    let line = 0;
    for await (const { text, isWhole } of readLines(file)) {
      line += 1;
      // Being written, or torn: the head file shows what was torn off.
      if (!isWhole && file === path) break;
      const record = verifier.take(text);
      if (typeof record === 'string') {
        return findings({ file, line, after_seq: verifier.end?.seq ?? 0, why: record });
      }
      records += 1;
      firstSeq ??= record.seq;
      if (record.seq === head?.seq) headHash = record.hash;
      if (record.event === 'gap') gaps.push(record);
    }
  }
  const end = verifier.end?.seq ?? 0;
  const fault = (why: string) => findings({ file: path, line: null, after_seq: end, why });
  if (!head && end > 0)
    return fault(`the head file is ${existsSync(headOf(path)) ? 'not what was written' : 'missing'}`);
  if (!head) return findings(null);
  if (end < head.seq) return fault(`the records ${end + 1} to ${head.seq} were there and are missing`);
  if (headHash !== undefined && headHash !== head.hash)
    return fault(`record ${head.seq} is not the one that was written`);
  return findings(null);
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
