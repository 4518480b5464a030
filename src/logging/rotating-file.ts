import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, rename, stat, truncate } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeDirectory } from '../config/derive/make-directory.js';

/** Most bytes that may be queued for a slow disk; further lines are dropped. Bounds the daemon's memory. */
const MAX_QUEUED_BYTES = 4 * 1024 * 1024;

/** Records contain commands: only the owner may read them. The default folder is the state directory. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** O_NONBLOCK: opening a named pipe without a reader must fail and not block. It has no effect on regular files. */
const OPEN_FLAGS =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOCTTY | constants.O_NONBLOCK;

/** Path and rotation of a log file, and callbacks for failures. */
export interface RotatingFileOptions {
  /** Absolute path; its folder is created. */
  readonly path: string;
  /** Size limit of the file, in bytes: a line that would exceed it causes a rotation first. */
  readonly maxBytes: number;
  /** Number of rotated files that are kept: `path.1` is the newest. With 0, a full file is truncated. */
  readonly backupCount: number;
  /** Called when writing starts to fail; not called again until a write has succeeded. */
  onFailure(error: unknown): void;
  /** Returns the line that reports the number of lost lines once writing works again. */
  describeLoss(lostLines: number): string;
}

interface OpenFile {
  readonly handle: FileHandle;
  readonly identity: string;
  /** Regular files are rotated; devices and pipes are not. */
  readonly isRotated: boolean;
  /** Size in bytes. */
  size: number;
}

/**
 * A log file with the rotation of Python's RotatingFileHandler. Writing never throws and never blocks: lines are
 * written one after another in the background, and lines that cannot be written are dropped and counted. Every line in
 * the file is whole. A file that another process has removed or renamed is created again.
 *
 * winston's own file transport names the files differently (`shell_adapter1.log`), and writes nothing more after a
 * failed write.
 */
export class RotatingFile {
  readonly #options: RotatingFileOptions;
  readonly #queue: Buffer[] = [];
  #queuedBytes = 0;
  #writing: Promise<void> | undefined;
  #file: OpenFile | undefined;
  #lostLines = 0;
  #hasFailed = false;
  #isClosed = false;

  constructor(options: RotatingFileOptions) {
    this.#options = options;
  }

  /** Queues a line, given without its newline. After `close` it is ignored. */
  write(line: string): void {
    if (!this.#isClosed) this.#enqueue(line);
  }

  /** Resolves when all queued lines have been written or dropped and the file is closed. Never rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#writing;
    await this.#closeFile();
  }

  #enqueue(line: string): void {
    const bytes = Buffer.from(`${line}\n`);
    if (this.#queuedBytes + bytes.length > MAX_QUEUED_BYTES) {
      this.#lostLines += 1;
      return;
    }
    this.#queue.push(bytes);
    this.#queuedBytes += bytes.length;
    this.#writing ??= this.#drain();
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0 || (this.#lostLines > 0 && !this.#hasFailed)) {
      const lastTried = this.#queue.at(-1);
      try {
        await this.#writeNext();
      } catch (error) {
        // Any error of the file system: the disk is full, the folder is missing or not writable.
        await this.#closeFile();
        // Lines queued in the meantime get their own attempt: the disk may have room by then.
        this.#drop(this.#queue.findIndex((line) => line === lastTried) + 1);
        this.#fail(error);
      }
    }
    this.#writing = undefined;
  }

  async #writeNext(): Promise<void> {
    const lostLines = this.#lostLines;
    const notice = Buffer.from(lostLines > 0 ? `${this.#options.describeLoss(lostLines)}\n` : '');
    let file = await this.#openFile();
    if (this.#countFitting(file, notice) === 0) {
      await this.#rotate();
      file = await this.#openFile();
    }
    const lines = this.#queue.slice(0, Math.max(1, this.#countFitting(file, notice)));
    // The notice is kept only if the line after it is: a disk with room for no more is still full.
    const parts = [Buffer.concat([notice, ...lines.slice(0, 1)]), ...lines.slice(1)];
    await appendWhole(file, parts, (count) => {
      if (count > 0) this.#lostLines -= lostLines;
      this.#forget(Math.min(count, lines.length));
    });
    this.#hasFailed = false;
  }

  /**
   * Number of lines at the head of the queue that fit into the file. A line that is too long for any file fits into an
   * empty one.
   */
  #countFitting(file: OpenFile, notice: Buffer): number {
    if (!file.isRotated || this.#queue.length === 0) return Math.max(1, this.#queue.length);
    let size = file.size + notice.length;
    const firstOver = this.#queue.findIndex((line) => {
      const isOver = size > 0 && size + line.length > this.#options.maxBytes;
      size += line.length;
      return isOver;
    });
    return firstOver === -1 ? this.#queue.length : firstOver;
  }

  /** Returns the file; opens it again if the path refers to another file now. */
  async #openFile(): Promise<OpenFile> {
    const { path } = this.#options;
    if (this.#file !== undefined) {
      const there = await stat(path).catch(ignore);
      if (there !== undefined && identify(there) === this.#file.identity) {
        this.#file.size = there.size;
        return this.#file;
      }
      await this.#closeFile();
    }
    await makeDirectory(dirname(path), FOLDER_MODE);
    const handle = await open(path, OPEN_FLAGS, FILE_MODE);
    const facts = await handle.stat();
    this.#file = { handle, identity: identify(facts), isRotated: facts.isFile(), size: facts.size };
    return this.#file;
  }

  async #rotate(): Promise<void> {
    const { path, backupCount } = this.#options;
    await this.#closeFile();
    if (backupCount === 0) return truncate(path);
    for (let number = backupCount - 1; number >= 1; number -= 1) {
      await renameIfThere(`${path}.${number}`, `${path}.${number + 1}`);
    }
    await renameIfThere(path, `${path}.1`);
  }

  #forget(count: number): void {
    for (const line of this.#queue.splice(0, count)) this.#queuedBytes -= line.length;
  }

  #drop(count: number): void {
    this.#lostLines += count;
    this.#forget(count);
  }

  #fail(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#options.onFailure(error);
  }

  async #closeFile(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    // Closing may report the error of an earlier write on a network file system: nothing can be done about it.
    await file?.handle.close().catch(ignore);
  }
}

/**
 * Appends parts and reports how many are written. A full disk may accept some of the bytes: a partial line is
 * truncated.
 */
async function appendWhole(
  file: OpenFile,
  parts: readonly Buffer[],
  onAppended: (count: number) => void,
): Promise<void> {
  const bytes = Buffer.concat(parts);
  let written = 0;
  try {
    while (written < bytes.length) written += (await file.handle.write(bytes, written)).bytesWritten;
    onAppended(parts.length);
  } catch (error) {
    let end = 0;
    const torn = parts.findIndex((part) => (end += part.length) > written);
    const whole = end - (parts[torn]?.length ?? 0);
    if (whole < written && file.isRotated) await file.handle.truncate(file.size + whole).catch(ignore);
    onAppended(torn);
    throw error;
  }
}

/** Identity of a file: device and inode. */
function identify({ dev, ino }: Stats): string {
  return `${dev}:${ino}`;
}

async function renameIfThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
}

function ignore(): undefined {
  return undefined;
}
