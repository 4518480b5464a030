import { existsSync } from 'node:fs';
import { stat, truncate } from 'node:fs/promises';

import { type ChainEnd, GENESIS, readRecord } from '../../core/audit/chain.js';
import { headOf, listAuditFiles, readHead, readLines, sha256 } from './files.js';

/** Bytes at the end of a file that are searched for its last record: more than the largest record. */
const TAIL_BYTES = 1024 * 1024;

/** Description of a gap: the `details` of its record. */
export interface Gap {
  readonly reason: 'torn' | 'truncated' | 'replaced' | 'changed' | 'unreadable' | 'head_missing' | 'lost';
  readonly [fact: string]: unknown;
}

/** Where the chain of an audit log continues. */
export interface ChainStart {
  readonly end: ChainEnd;
  /** Problems of the existing files. */
  readonly gaps: readonly Gap[];
}

/**
 * Finds the end of the chain in the files of an earlier instance, and truncates a torn line, left by a daemon that was
 * killed, or by a full disk. Records that the head file mentions and that are missing are a gap.
 */
export async function resumeChain(path: string): Promise<ChainStart> {
  const tornBytes = await truncateTornLine(path);
  const torn: Gap[] = tornBytes > 0 ? [{ reason: 'torn', bytes: tornBytes }] : [];
  const { end, gaps } = await findEnd(path);
  return { end, gaps: [...torn, ...gaps] };
}

async function findEnd(path: string): Promise<ChainStart> {
  const head = readHead(path);
  const files = listAuditFiles(path);
  const last = await lastLineOf(files);
  const record = last === undefined ? undefined : readRecord(last, sha256);
  if (typeof record === 'string') {
    return { end: head ?? GENESIS, gaps: [{ reason: 'unreadable', why: record }] };
  }
  const end = record && { seq: record.seq, hash: record.hash };
  if (!head) return { end: end ?? GENESIS, gaps: end ? [{ reason: 'head_missing', file: headOf(path) }] : [] };
  const gap = await findGap(head, end, files);
  return { end: end ?? head, gaps: gap ? [gap] : [] };
}

/** Compares the head file with the last record; returns the gap that they show. */
async function findGap(head: ChainEnd, end: ChainEnd | undefined, files: readonly string[]): Promise<Gap | undefined> {
  const lastSeq = end?.seq ?? 0;
  if (head.seq > lastSeq) {
    return { reason: 'truncated', first_missing_seq: lastSeq + 1, last_missing_seq: head.seq };
  }
  if (!end || end.hash === head.hash || (await hasRecord(files, head))) return undefined;
  return { reason: 'changed', seq: head.seq, expected_hash: head.hash };
}

async function truncateTornLine(path: string): Promise<number> {
  if (!existsSync(path)) return 0;
  const { size } = await stat(path);
  let torn = 0;
  for await (const { bytes, isWhole } of readLines(path, Math.max(0, size - TAIL_BYTES))) {
    if (!isWhole) torn = bytes;
  }
  if (torn > 0) await truncate(path, size - torn);
  return torn;
}

/** Returns the last line of the newest file that has one. */
async function lastLineOf(files: readonly string[]): Promise<string | undefined> {
  for (const file of files.toReversed()) {
    const { size } = await stat(file);
    let last: string | undefined;
    for await (const { text } of readLines(file, Math.max(0, size - TAIL_BYTES))) last = text;
    if (last !== undefined) return last;
  }
  return undefined;
}

/**
 * Whether the record of the head file exists unchanged. It is the last one, or one batch before it, when a daemon was
 * killed between writing the records and the head.
 */
async function hasRecord(files: readonly string[], { seq, hash }: ChainEnd): Promise<boolean> {
  for (const file of files.toReversed()) {
    let first: number | undefined;
    for await (const { text } of readLines(file)) {
      const record = readRecord(text, sha256);
      if (typeof record === 'string') continue;
      if (record.seq === seq) return record.hash === hash;
      first ??= record.seq;
    }
    if (first !== undefined && first < seq) return false;
  }
  return false;
}
