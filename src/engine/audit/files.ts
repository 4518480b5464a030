import crypto from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

import { type ChainEnd, type Hash } from '../../core/audit.js';

/** `hash` of Node 20.12 and later, which takes half the time; older versions lack it, contrary to their types. */
const { hash } = crypto as Partial<typeof crypto>;

/** SHA-256 in hexadecimal digits. */
export const sha256: Hash = hash
  ? (text) => hash('sha256', text, 'hex')
  : (text) => crypto.createHash('sha256').update(text).digest('hex');

/**
 * Path of the head file, a second copy of the end of the chain: a chain alone does not show that its end was cut off.
 */
export const headOf = (path: string): string => `${path}.head`;

/** Renders the end of the chain for the head file; of constant length, so that it can be overwritten in place. */
export const renderHead = ({ seq, hash }: ChainEnd): string => `${String(seq).padStart(16)} ${hash}\n`;

/** Reads the head file; undefined when it is missing or invalid. */
export function readHead(path: string): ChainEnd | undefined {
  if (!existsSync(headOf(path))) return undefined;
  const [, seq = '', hash = ''] = /^ *(\d+) ([0-9a-f]{64})\n/.exec(readFileSync(headOf(path), 'latin1')) ?? [];
  return hash === '' ? undefined : { seq: Number(seq), hash };
}

/** Returns the existing files of an audit log, the oldest first; `PATH` itself is the last. */
export function listAuditFiles(path: string): string[] {
  const name = basename(path);
  const folder = dirname(path);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const numbers = names.flatMap((other) => {
    const number = other.startsWith(`${name}.`) ? other.slice(name.length + 1) : '';
    return /^[1-9]\d*$/.test(number) ? [Number(number)] : [];
  });
  const rotated = numbers.sort((a, b) => b - a).map((number) => `${path}.${number}`);
  return names.includes(name) ? [...rotated, path] : rotated;
}

/** A file of an audit log, as it was when it was listed. */
export interface ListedFile {
  readonly path: string;
  readonly ino: number;
  readonly size: number;
}

/**
 * Returns the files of an audit log with the inodes that identify them after a rename; never in the middle of a
 * rotation.
 */
export function listStanding(path: string): readonly ListedFile[] {
  const list = () =>
    listAuditFiles(path).flatMap((file) => {
      const stats = statSync(file, { throwIfNoEntry: false });
      return stats ? [{ path: file, ino: stats.ino, size: stats.size }] : [];
    });
  const signature = (files: readonly ListedFile[]) => files.map(({ path: file, ino }) => `${file} ${ino}`).join('\n');
  let files = list();
  for (let again = list(); signature(again) !== signature(files); again = list()) files = again;
  return files;
}

/** A line of a file; the last one may be incomplete, because it was torn or is just being written. */
export interface FileLine {
  readonly text: string;
  readonly isWhole: boolean;
  /** Without the line feed. */
  readonly bytes: number;
}

/**
 * Yields the lines of a file from a position on; closes a handle at the end. Only LF ends a line: other line separators
 * may occur in texts.
 */
export async function* readLines(file: string | FileHandle, start = 0): AsyncGenerator<FileLine> {
  let rest = Buffer.alloc(0);
  const stream = typeof file === 'string' ? createReadStream(file, { start }) : file.createReadStream({ start });
  for await (const chunk of stream) {
    rest = Buffer.concat([rest, chunk as Buffer]);
    let from = 0;
    for (let end = rest.indexOf(LF); end !== -1; end = rest.indexOf(LF, from)) {
      yield { text: rest.toString('utf8', from, end), isWhole: true, bytes: end - from };
      from = end + 1;
    }
    rest = rest.subarray(from);
  }
  if (rest.length > 0) yield { text: rest.toString(), isWhole: false, bytes: rest.length };
}

const LF = 10;
