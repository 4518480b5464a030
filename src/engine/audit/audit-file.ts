import { constants, statSync } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

import { type ChainEnd, GENESIS, sealRecord } from '../../core/audit/chain.js';
import type { AuditEvent, AuditTrail } from '../../core/audit/event.js';
import { renderEvent } from '../../core/audit/render.js';
import { AdapterError } from '../../core/errors.js';
import type { SecretMask } from '../../core/secrets/secret-mask.js';
import { tryLock, unlock } from '../instance/file-lock.js';
import { AuditQueue } from './audit-queue.js';
import { headOf, renderHead, sha256 } from './files.js';
import { type ChainStart, type Gap, resumeChain } from './resume.js';

/**
 * Interval in which records are batched, in milliseconds; the first record after a pause is written immediately. A
 * daemon that is killed loses at most this much. Each batch wakes other threads twice, which costs about as much as a
 * command: hence the lower bound on the interval.
 */
const BATCH_MS = 50;
/** Events per batch: bounds how long the daemon does nothing else. */
const BATCH_EVENTS = 128;
/** Delay before a failed write is retried, in milliseconds. */
const RETRY_MS = 1000;

const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
const FILE_MODE = 0o600;

/** Options of the audit file. */
export interface AuditFileOptions {
  /** Absolute. */
  readonly path: string;
  /** A file that would grow beyond this is rotated, in bytes. */
  readonly maxBytes: number;
  /** Number of rotated files that are kept. */
  readonly backups: number;
  readonly mask: Pick<SecretMask, 'text' | 'value'>;
  /** Called when writing starts to fail, once until it works again. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * The audit log: a chain of records in a file that is rotated. Recording only queues an event: records are created and
 * written in the background, in order. While the file cannot be written they are queued, up to a bound; events beyond
 * it are counted, and a record reports the count.
 */
export class AuditFile implements AuditTrail, AsyncDisposable {
  readonly #options: AuditFileOptions;
  readonly #queue = new AuditQueue();
  #end: ChainEnd;
  #handle: FileHandle | undefined;
  #head: FileHandle | undefined;
  /** Expected size and inode of the file. Undefined before the first record of this instance. */
  #known: { readonly ino: number; size: number } | undefined;
  #writing: Promise<void> | undefined;
  /** Set while a batch is scheduled. */
  #cancelScheduled: (() => void) | undefined;
  #lastBatch = -Infinity;
  #hasFailed = false;
  #isLocked = false;
  #isClosed = false;

  private constructor(options: AuditFileOptions, end: ChainEnd) {
    this.#options = options;
    this.#end = end;
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

  record(event: AuditEvent): void {
    if (this.#isClosed) return;
    this.#queue.push(event);
    if (this.#writing === undefined && this.#cancelScheduled === undefined) this.#schedule();
  }

  /** Resolves when all recorded events are written, or cannot be. */
  async flush(): Promise<void> {
    await this.#writing;
    this.#cancelScheduled?.();
    await this.#startDrain(1);
  }

  /** Writes the queued events, and closes the file. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.flush();
    await this.#closeFiles();
    if (this.#isLocked) unlock(lockOf(this.#options.path));
  }

  /** Writes immediately after a pause: a command that ends the daemon must not be faster than its record. */
  #schedule(): void {
    const isBusy = performance.now() - this.#lastBatch < BATCH_MS;
    const drain = () => {
      this.#cancelScheduled = undefined;
      void this.#startDrain();
    };
    if (isBusy || this.#hasFailed) {
      const timer = setTimeout(drain, this.#hasFailed ? RETRY_MS : BATCH_MS).unref();
      this.#cancelScheduled = () => {
        clearTimeout(timer);
        this.#cancelScheduled = undefined;
      };
    } else {
      const immediate = setImmediate(drain);
      this.#cancelScheduled = () => {
        clearImmediate(immediate);
        this.#cancelScheduled = undefined;
      };
    }
  }

  /** @param least events that must be left for another batch to follow at once; fewer wait for the next pause */
  #startDrain(least = BATCH_EVENTS): Promise<void> {
    this.#writing ??= this.#drain(least).finally(() => {
      this.#writing = undefined;
      this.#lastBatch = performance.now();
      if (!this.#isClosed && this.#queue.length > 0) this.#schedule();
    });
    return this.#writing;
  }

  async #drain(least: number): Promise<void> {
    while (this.#queue.length > 0) {
      try {
        await this.#writeBatch();
        this.#hasFailed = false;
      } catch (error) {
        // Any error of the file system: the events stay in the queue.
        await this.#closeFiles();
        if (!this.#hasFailed) this.#options.onFailure(error);
        this.#hasFailed = true;
        return;
      }
      if (this.#queue.length < least) return;
    }
  }

  async #writeBatch(): Promise<void> {
    const file = await this.#openFiles();
    const { maxBytes, mask } = this.#options;
    const lines: Buffer[] = [];
    let size = file.known.size;
    let end = this.#end;
    let taken = 0;
    for (const { time, event } of this.#queue.peek(BATCH_EVENTS)) {
      const sealed = sealRecord(new Date(time).toISOString(), renderEvent(event, mask, sha256), end, sha256);
      const line = Buffer.from(`${sealed.line}\n`);
      if (size > 0 && size + line.length > maxBytes) break;
      lines.push(line);
      size += line.length;
      end = sealed;
      taken += 1;
    }
    if (taken === 0) return this.#rotate();
    await appendWhole(file.handle, Buffer.concat(lines), file.known.size);
    file.known.size = size;
    this.#end = { seq: end.seq, hash: end.hash };
    this.#queue.drop(taken);
    const head = Buffer.from(renderHead(this.#end));
    await file.head.write(head, 0, head.length, 0);
  }

  /** @throws AdapterError RESOURCE_EXHAUSTED when another daemon holds the lock */
  async #lock(): Promise<void> {
    const { path } = this.#options;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    let holder = tryLock(lockOf(path));
    while (holder === 'gone') holder = tryLock(lockOf(path));
    this.#isLocked = holder === undefined;
    if (!holder) return;
    const message = `another daemon (process ${holder.pid ?? 'unknown'}) writes the audit log ${path}; give this one another audit.file or adapter.state_directory`;
    throw new AdapterError('RESOURCE_EXHAUSTED', message, { details: { file: path } });
  }

  /** Returns the open files; records first what another process has done to them. */
  async #openFiles(): Promise<{ handle: FileHandle; head: FileHandle; known: { ino: number; size: number } }> {
    const { path } = this.#options;
    if (!this.#isLocked) await this.#lock();
    // Synchronous: a thread switch takes longer than stat(2).
    const found = statSync(path, { throwIfNoEntry: false });
    const known = this.#known;
    if (known && found?.ino !== known.ino) this.#noteGap({ reason: 'replaced' });
    else if (known && found && found.size !== known.size) {
      this.#noteGap({ reason: 'changed', expected_bytes: known.size, bytes: found.size });
    }
    if (known && found?.ino !== known.ino) await this.#closeFiles();
    this.#handle ??= await open(path, APPEND, FILE_MODE);
    this.#head ??= await open(headOf(path), constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW, FILE_MODE);
    if (!this.#known) {
      const { ino, size } = await this.#handle.stat();
      this.#known = { ino, size };
    }
    return { handle: this.#handle, head: this.#head, known: this.#known };
  }

  /** Queued before all other events: the gap has occurred since the last record was written. */
  #noteGap(gap: Gap): void {
    this.#known = undefined;
    this.#queue.unshift({ event: 'gap', details: gap });
  }

  async #rotate(): Promise<void> {
    const { path, backups } = this.#options;
    await this.#closeFiles();
    this.#known = undefined;
    await rm(`${path}.${backups}`, { force: true });
    for (let number = backups - 1; number >= 0; number -= 1) {
      const from = number === 0 ? path : `${path}.${number}`;
      await rename(from, `${path}.${number + 1}`).catch(ignoreMissing);
    }
  }

  async #closeFiles(): Promise<void> {
    const files = [this.#handle, this.#head];
    this.#handle = undefined;
    this.#head = undefined;
    // close(2) may report the error of an earlier write: nothing can be done about it.
    for (const file of files) await file?.close().catch(() => undefined);
  }
}

const lockOf = (path: string): string => `${path}.lock`;

/** Appends all bytes or none: a record that is cut by a full disk would be invalid. */
async function appendWhole(handle: FileHandle, bytes: Buffer, size: number): Promise<void> {
  let written = 0;
  try {
    while (written < bytes.length) written += (await handle.write(bytes, written)).bytesWritten;
  } catch (error) {
    if (written > 0) await handle.truncate(size);
    throw error;
  }
}

function ignoreMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
