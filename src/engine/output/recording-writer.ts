import { type FileHandle, open } from 'node:fs/promises';

import { type CastCode, type CastHeader, renderEvent, renderHeader } from '../../core/recording.js';

/** Only the daemon's user reads what was shown. */
const FILE_MODE = 0o600;
/** Delay after which events are written, in milliseconds: what a killed daemon loses at most. */
const FLUSH_MS = 100;
/** Number of waiting bytes from which they are written at once. */
const BATCH_BYTES = 256 * 1024;
/** Most waiting bytes: more output than the disk takes is left out, with a note in its place. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** Room for the last events, in bytes: why the recording ends. */
const RESERVED_BYTES = 1024;

/** The parts of a file that a recording uses. */
export type RecordingFile = Pick<FileHandle, 'appendFile' | 'close'>;

interface RecordingWriterOptions {
  /** A file that does not exist yet. */
  readonly path: string;
  readonly header: CastHeader;
  /** Size at which the recording ends early. */
  readonly maxBytes: number;
  /** Called once when the recording ends before its session, with the reason. */
  readonly onCut: (reason: string) => void;
  /**
   * Creates the file.
   * @default a file that only this user can read
   */
  readonly open?: (path: string) => Promise<RecordingFile>;
}

const create = (path: string): Promise<RecordingFile> => open(path, 'ax', FILE_MODE);

/**
 * Writes one recording. Adding an event never blocks and never throws: events are written in the background, in batches.
 * The recording ends early when it is full or cannot be written, and the session goes on.
 */
export class RecordingWriter {
  readonly #options: RecordingWriterOptions;
  readonly #file: RecordingFile;
  readonly #startedAt = performance.now();
  #waiting: string[] = [];
  #waitingBytes = 0;
  #bytes: number;
  /** Bytes of events that were left out since the last note. */
  #leftOut = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #isOpen = true;

  private constructor(options: RecordingWriterOptions, file: RecordingFile, bytes: number) {
    this.#options = options;
    this.#file = file;
    this.#bytes = bytes;
  }

  /**
   * Creates the file with its header.
   * @throws the file system's error
   */
  static async create(options: RecordingWriterOptions): Promise<RecordingWriter> {
    const header = renderHeader(options.header);
    const file = await (options.open ?? create)(options.path);
    try {
      await file.appendFile(header);
    } catch (error) {
      await file.close();
      throw error;
    }
    return new RecordingWriter(options, file, Buffer.byteLength(header));
  }

  /** Whether events are still recorded. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Length so far, in milliseconds. */
  get durationMs(): number {
    return performance.now() - this.#startedAt;
  }

  /** Adds an event; ignored after the end. */
  add(code: CastCode, data: string): void {
    if (!this.#isOpen) return;
    const line = renderEvent(this.durationMs / 1000, code, data);
    const bytes = Buffer.byteLength(line);
    if (this.#waitingBytes + bytes > MAX_WAITING_BYTES) {
      this.#leftOut += bytes;
      return;
    }
    if (this.#bytes + bytes + RESERVED_BYTES > this.#options.maxBytes) {
      this.#cut(`it has reached ${this.#options.maxBytes} bytes (recording.max_bytes)`);
      return;
    }
    this.#noteLeftOut();
    this.#queue(line, bytes);
    if (this.#waitingBytes >= BATCH_BYTES) this.#write();
    else this.#timer ??= setTimeout(this.#write, FLUSH_MS).unref();
  }

  /** Resolves when everything added so far is in the file, or cannot be. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0 || this.#writing) {
      this.#write();
      await this.#writing;
    }
  }

  /** Ends the recording with its session. Idempotent; never rejects. */
  async end(): Promise<void> {
    if (this.#isOpen) {
      this.#noteLeftOut();
      this.#finish('complete');
    }
    await this.flush();
  }

  #noteLeftOut(): void {
    if (this.#leftOut === 0) return;
    const note = `\r\n\x1b[7m${this.#leftOut} bytes of the recording are left out: the disk was too slow\x1b[0m\r\n`;
    this.#leftOut = 0;
    this.#queueEvent('o', note);
  }

  #cut(reason: string): void {
    this.#queueEvent('o', `\r\n\x1b[7mthe recording ends here: ${reason}\x1b[0m\r\n`);
    this.#finish(`cut: ${reason}`);
    this.#options.onCut(reason);
  }

  #finish(how: string): void {
    this.#queueEvent('x', how);
    this.#isOpen = false;
    this.#write();
  }

  #queueEvent(code: CastCode, data: string): void {
    const line = renderEvent(this.durationMs / 1000, code, data);
    this.#queue(line, Buffer.byteLength(line));
  }

  #queue(line: string, bytes: number): void {
    this.#waiting.push(line);
    this.#waitingBytes += bytes;
    this.#bytes += bytes;
  }

  readonly #write = (): void => {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing ??= this.#drain().finally(() => {
      this.#writing = undefined;
      if (!this.#isOpen && this.#waiting.length > 0) this.#write();
    });
  };

  async #drain(): Promise<void> {
    try {
      while (this.#waiting.length > 0) {
        const bytes = this.#waitingBytes;
        await this.#file.appendFile(this.#waiting.splice(0).join(''));
        this.#waitingBytes -= bytes;
      }
      if (!this.#isOpen) await this.#file.close();
    } catch (error) {
      await this.#fail((error as Error).message);
    }
  }

  /** The disk is full, or the file system is gone: what was written stays, and its torn last line is not read. */
  async #fail(reason: string): Promise<void> {
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    this.#waiting = [];
    this.#waitingBytes = 0;
    await this.#file.close().catch(() => undefined);
    if (wasOpen) this.#options.onCut(reason);
  }
}
