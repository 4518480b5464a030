import { constants, existsSync } from 'node:fs';
import { type FileHandle, open, stat, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';

import { type ChainEnd, GENESIS, readRecord, renderEvent, type SealedRecord, sealRecord } from '../../core/audit.js';
import type { AuditEvent, AuditTrail } from '../../core/audit-events.js';
import { AdapterError } from '../../core/errors.js';
import type { SecretMask } from '../../core/secrets.js';
import type { Loss } from '../../files/bounded-queue.js';
import { makeDirectory } from '../../files/make-directory.js';
import { RotatingAppender } from '../../files/rotating-appender.js';
import type { ForeignChange } from '../../files/rotating-file.js';
import { tryLock, unlock } from '../instance/file-lock.js';
import type { Platform } from '../platform/platform.js';
import { headOf, listAuditFiles, readHead, readLines, renderHead, sha256 } from './files.js';

/** Bytes at the end of a file that are searched for its last record: more than the largest record. */
const TAIL_BYTES = 1024 * 1024;

/** Description of a gap: the `details` of its record. */
interface Gap {
  readonly reason: 'torn' | 'truncated' | 'replaced' | 'changed' | 'unreadable' | 'head_missing' | 'lost';
  readonly [fact: string]: unknown;
}

/** Where the chain of an audit log continues. */
interface ChainStart {
  readonly end: ChainEnd;
  /** Problems of the existing files. */
  readonly gaps: readonly Gap[];
}

/**
 * Finds the end of the chain in the files of an earlier instance, and truncates a torn line, left by a daemon that was
 * killed, or by a full disk. Records that the head file mentions and that are missing are a gap.
 */
async function resumeChain(path: string): Promise<ChainStart> {
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

/**
 * Interval in which records are batched, in milliseconds. A daemon that is killed loses at most this much. Each batch
 * wakes other threads twice, which costs about as much as a command: hence the lower bound on the interval.
 */
const BATCH_MS = 50;
/** Largest number of queued events while the file cannot be written, and of queued characters of commands. */
const MAX_EVENTS = 10_000;
const MAX_CHARACTERS = 16 * 1024 * 1024;

const HEAD_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW;
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

export interface AuditFileOptions {
  /** Absolute. */
  readonly path: string;
  readonly platform: Platform;
  /** A file that would grow beyond this is rotated, in bytes. */
  readonly maxBytes: number;
  /** Number of rotated files that are kept. */
  readonly backups: number;
  readonly mask: Pick<SecretMask, 'text' | 'value'>;
  /** Called when writing starts to fail, once until it works again. */
  readonly onFailure: (error: unknown) => void;
}

/** An event with its time, in milliseconds since 1970. */
interface TimedEvent {
  readonly time: number;
  readonly event: AuditEvent;
}

/**
 * The audit log: a chain of records in a file that is rotated. Recording only queues an event: records are created and
 * written in the background, in order. While the file cannot be written they are queued, up to a bound; events beyond
 * it are counted, and a record reports the count.
 */
export class AuditFile implements AuditTrail, AsyncDisposable {
  readonly #options: AuditFileOptions;
  readonly #appender: RotatingAppender<TimedEvent>;
  #end: ChainEnd;
  /** Records of the events that were rendered last. */
  #sealed: readonly SealedRecord[] = [];
  #lastCommand = { text: '', hash: sha256('') };
  #head: FileHandle | undefined;
  #isLocked = false;

  private constructor(options: AuditFileOptions, end: ChainEnd) {
    this.#options = options;
    this.#end = end;
    this.#appender = new RotatingAppender({
      path: options.path,
      maxBytes: options.maxBytes,
      backupCount: options.backups,
      maxItems: MAX_EVENTS,
      maxWeight: MAX_CHARACTERS,
      weightOf: ({ event: { command = '', args = [] } }) => args.reduce((sum, arg) => sum + arg.length, command.length),
      batchMs: BATCH_MS,
      mustRetry: true,
      onOpen: () => this.#lock(),
      render: (events) => this.#seal(events),
      onWritten: (count) => this.#noteWritten(count),
      describeLoss,
      describeChange: (change) => {
        // The head may have been removed together with the file.
        void this.#closeHead();
        return describeChange(change);
      },
      onFailure: options.onFailure,
    });
  }

  /**
   * Continues the chain of an earlier instance, or starts one.
   * @throws AdapterError RESOURCE_EXHAUSTED when another daemon writes the file
   */
  static async open(options: AuditFileOptions): Promise<AuditFile> {
    const { path } = options;
    const start = await resumeChain(path).catch((error: unknown): ChainStart => {
      return { end: GENESIS, gaps: [{ reason: 'unreadable', why: String(error) }] };
    });
    const file = new AuditFile(options, start.end);
    try {
      await file.#lock();
    } catch (error) {
      if (error instanceof AdapterError) throw error;
      // The disk is full, or the folder is not writable: the daemon still starts, and writing is retried.
      options.onFailure(error);
    }
    for (const gap of start.gaps) file.record({ event: 'gap', details: gap });
    return file;
  }

  /** Path of the file. */
  get path(): string {
    return this.#options.path;
  }

  /** Number of the last written record; 0 before the first one. */
  get lastSeq(): number {
    return this.#end.seq;
  }

  record(event: AuditEvent): void {
    this.#appender.add({ time: Date.now(), event });
  }

  /** Resolves when all recorded events are written, or cannot be. */
  flush(): Promise<void> {
    return this.#appender.flush();
  }

  /** Writes the queued events, and closes the file. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#appender.close();
    await this.#closeHead();
    if (this.#isLocked) unlock(lockOf(this.#options.path));
    this.#isLocked = false;
  }

  #seal(events: readonly TimedEvent[]): Buffer[] {
    let end = this.#end;
    this.#sealed = events.map(({ time, event }) => {
      const record = renderEvent(event, this.#options.mask, this.#hashOfCommand);
      const sealed = sealRecord(new Date(time).toISOString(), record, end, sha256);
      end = sealed;
      return sealed;
    });
    return this.#sealed.map(({ line }) => Buffer.from(`${line}\n`));
  }

  /** The same command often comes several times in a row. */
  readonly #hashOfCommand = (text: string): string => {
    if (text !== this.#lastCommand.text) this.#lastCommand = { text, hash: sha256(text) };
    return this.#lastCommand.hash;
  };

  async #noteWritten(count: number): Promise<void> {
    const last = this.#sealed[count - 1];
    if (!last) return;
    this.#end = { seq: last.seq, hash: last.hash };
    const head = Buffer.from(renderHead(this.#end));
    try {
      this.#head ??= await open(headOf(this.path), HEAD_FLAGS, FILE_MODE);
      await this.#head.write(head, 0, head.length, 0);
    } catch (error) {
      await this.#closeHead();
      throw error;
    }
  }

  async #closeHead(): Promise<void> {
    const head = this.#head;
    this.#head = undefined;
    // close(2) may report the error of an earlier write: nothing can be done about it.
    await head?.close().catch(() => undefined);
  }

  /** @throws AdapterError RESOURCE_EXHAUSTED when another daemon holds the lock */
  async #lock(): Promise<void> {
    if (this.#isLocked) return;
    const { path, platform } = this.#options;
    await makeDirectory(dirname(path), FOLDER_MODE);
    const holder = tryLock(lockOf(path), platform);
    this.#isLocked = holder === undefined;
    if (!holder) return;
    const message = `another daemon (process ${holder.pid ?? 'unknown'}) writes the audit log ${path}; give this one another audit.file or adapter.state_directory`;
    throw new AdapterError('RESOURCE_EXHAUSTED', message, { details: { file: path } });
  }
}

const lockOf = (path: string): string => `${path}.lock`;

const gapEvent = (time: number, details: Gap): TimedEvent => ({ time, event: { event: 'gap', details } });

function describeLoss({ count, since, until }: Loss): TimedEvent {
  const [from, to] = [since, until].map((time) => new Date(time).toISOString());
  return gapEvent(until, { reason: 'lost', lost: count, since: from, until: to });
}

function describeChange(change: ForeignChange): TimedEvent {
  if (change.reason === 'replaced') return gapEvent(Date.now(), change);
  const { reason, expectedBytes, bytes } = change;
  return gapEvent(Date.now(), { reason, expected_bytes: expectedBytes, bytes });
}
