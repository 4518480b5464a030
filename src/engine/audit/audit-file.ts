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
 * Records come together to the file that come within this time of each other, in milliseconds; the first after a pause goes
 * at once. A daemon that is killed loses so much. Each batch wakes other threads twice, which costs about what a command
 * does: so often at most.
 */
const BATCH_MS = 50;
/** Events that are written at once: bounds how long the daemon does nothing else. */
const BATCH_EVENTS = 128;
/** Pause before a file that could not be written is tried again, in milliseconds. */
const RETRY_MS = 1000;

const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
const FILE_MODE = 0o600;

/** Which file, and how much of it is kept. */
export interface AuditFileOptions {
  /** Absolute. */
  readonly path: string;
  /** A file that would grow beyond this is rotated, in bytes. */
  readonly maxBytes: number;
  /** Rotated files that are kept. */
  readonly backups: number;
  readonly mask: Pick<SecretMask, 'text' | 'value'>;
  /** Told when writing begins to fail, once until it works again. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * The audit log: a chain of records in a file that is rotated. Recording is no more than a push: records are made and written
 * in the background, in order. While the file cannot be written they wait, up to a bound; those beyond it are counted, and
 * a record tells of them.
 */
export class AuditFile implements AuditTrail, AsyncDisposable {
  readonly #options: AuditFileOptions;
  readonly #queue = new AuditQueue();
  #end: ChainEnd;
  #handle: FileHandle | undefined;
  #head: FileHandle | undefined;
  /** What the file should have, and which one it is. Undefined before the first record of this run. */
  #known: { readonly ino: number; size: number } | undefined;
  #writing: Promise<void> | undefined;
  /** Set while a batch is to be written soon. */
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
   * Goes on with the chain of an earlier run, or begins one.
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
      // The disk is full, or the folder may not be written: no reason for the daemon not to start. It is tried again.
      options.onFailure(error);
    }
    for (const gap of start.gaps) file.record({ event: 'gap', details: gap });
    return file;
  }

  /** Where it is. */
  get path(): string {
    return this.#options.path;
  }

  record(event: AuditEvent): void {
    if (this.#isClosed) return;
    this.#queue.push(event);
    if (this.#writing === undefined && this.#cancelScheduled === undefined) this.#schedule();
  }

  /** Resolves when all that was recorded has been written, or cannot be. */
  async flush(): Promise<void> {
    await this.#writing;
    this.#cancelScheduled?.();
    await this.#startDrain();
  }

  /** Writes what is left, and ends. Twice is harmless. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.flush();
    await this.#closeFiles();
    if (this.#isLocked) unlock(lockOf(this.#options.path));
  }

  /** At once after a pause: a command that ends the daemon must not be quicker than its record. */
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

  #startDrain(): Promise<void> {
    this.#writing ??= this.#drain().finally(() => {
      this.#writing = undefined;
      this.#lastBatch = performance.now();
      if (!this.#isClosed && this.#queue.length > 0) this.#schedule();
    });
    return this.#writing;
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      try {
        await this.#writeBatch();
        this.#hasFailed = false;
      } catch (error) {
        // Whatever the file system refuses with: the events stay in the queue.
        await this.#closeFiles();
        if (!this.#hasFailed) this.#options.onFailure(error);
        this.#hasFailed = true;
        return;
      }
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

  /** @throws AdapterError RESOURCE_EXHAUSTED when another daemon has it */
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

  /** The open files; what somebody else has done to them is recorded first. */
  async #openFiles(): Promise<{ handle: FileHandle; head: FileHandle; known: { ino: number; size: number } }> {
    const { path } = this.#options;
    if (!this.#isLocked) await this.#lock();
    // Not in another thread: asking one takes longer than the look does.
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

  /** Before everything that waits: it has happened since the last record was written. */
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
    // Closing may report what an earlier write has met: nothing is left to be done about it.
    for (const file of files) await file?.close().catch(() => undefined);
  }
}

const lockOf = (path: string): string => `${path}.lock`;

/** Appends all of it or nothing: of what a full disk has taken, the rest of a record would be no record. */
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
