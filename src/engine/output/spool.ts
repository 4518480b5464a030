import { close, constants, openSync, read, rm, writev } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { randomBytes } from '../system/random.js';

const BLOCK_BYTES = 256 * 1024;
/** Most blocks that are kept for later: what one spool may have queued for a slow disk, twice. */
const MAX_SPARE_BLOCKS = 16;

/** Blocks of memory on their way to the disk. Fresh memory costs more than the copy into it, and stays until it is collected. */
class BlockPool {
  readonly #spare: Buffer[] = [];

  /** A block with any content. */
  take(): Buffer {
    return this.#spare.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
  }

  /** Takes back blocks that nothing uses any more, or what was used of them. */
  give(blocks: readonly Buffer[]): void {
    for (const { buffer } of blocks) if (this.#spare.length < MAX_SPARE_BLOCKS) this.#spare.push(Buffer.from(buffer));
  }
}

/** The blocks of all spools of the daemon: each is in use for as long as a write takes. */
const sharedBlocks = new BlockPool();

/** What can give its bytes back for newer ones. */
interface Evictable {
  giveWay(): Promise<void>;
}

/** Bytes that the spools of one session may keep together. Outputs of ended commands are evicted for newer ones. */
export class SpoolBudget {
  readonly #maxBytes: number;
  #left: number;
  /** Outputs of ended commands, oldest first. */
  readonly #ended = new Set<Evictable>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#left = maxBytes;
  }

  /** Bytes that are kept, in memory and on disk. */
  get usedBytes(): number {
    return this.#maxBytes - this.#left;
  }

  /** Takes up to `bytes` from the budget and returns how many were granted. */
  take(bytes: number): number {
    for (const oldest of this.#ended) {
      if (this.#left >= bytes) break;
      this.#ended.delete(oldest);
      void oldest.giveWay();
    }
    const granted = Math.min(bytes, this.#left);
    this.#left -= granted;
    return granted;
  }

  give(bytes: number): void {
    this.#left += bytes;
  }

  /** Notes that a spool's command has ended. */
  noteEnd(spool: Evictable): void {
    this.#ended.add(spool);
  }

  /** Notes that a spool keeps nothing any more. */
  forget(spool: Evictable): void {
    this.#ended.delete(spool);
  }
}

const writeBlocks = promisify(writev);
const readAt = promisify(read);
const closeFd = promisify(close);
const removeFile = promisify(rm);

/** Up to this size an output stays in memory: most outputs never touch the disk. */
const IN_MEMORY_BYTES = 32 * 1024;
/** Number of blocks that may be queued for a slow disk before backpressure applies. */
const MAX_QUEUED_BLOCKS = 8;

/**
 * Keeps the whole output of one stream, from its beginning up to the session's budget: the first bytes in memory, the
 * rest in a file (0600). A disk that fails or fills up costs the rest of the copy, never the command.
 */
export class Spool {
  readonly #directory: string;
  #path = '';
  readonly #budget: SpoolBudget;
  #memory: Buffer<ArrayBuffer> | undefined;
  /** Bytes accepted, whether still in memory, queued or written. */
  #kept = 0;
  /** Bytes at the beginning of the file that are written. */
  #written = 0;
  #block: Buffer | undefined;
  #blockLength = 0;
  readonly #queue: Buffer[] = [];
  /** Open while the command runs; afterwards only while the file is read or written. */
  #fd: number | undefined;
  /** Reads and writes that use the descriptor. */
  #users = 0;
  #writing: Promise<void> | undefined;
  #onUncongested: (() => void) | undefined;
  /** Accepts no more: the budget is used up, or the file has failed. */
  #isFull = false;
  #hasFailed = false;
  #hasEnded = false;
  #isDisposed = false;
  #error: string | undefined;

  constructor(directory: string, budget: SpoolBudget) {
    this.#directory = directory;
    this.#budget = budget;
  }

  /** Bytes kept, always the first ones of the stream. */
  get keptBytes(): number {
    return this.#kept;
  }

  /** Memory use of this spool after its command has ended, in bytes. */
  get memoryBytes(): number {
    return this.#memory?.length ?? 0;
  }

  get error(): string | undefined {
    return this.#error;
  }

  /** Appends a copy of the chunk. */
  write(chunk: Uint8Array): void {
    if (this.#isFull) return;
    const granted = this.#budget.take(chunk.length);
    if (this.#isDisposed) {
      // The budget was taken from this spool itself: background jobs of an ended command still write, and its output is
      // the oldest.
      this.#budget.give(granted);
      return;
    }
    if (granted < chunk.length) {
      this.#isFull = true;
      this.#error ??= 'the spool limit of the session (spool_mb_limit) is reached';
    }
    this.#keep(granted === chunk.length ? chunk : chunk.subarray(0, granted));
  }

  /** Whether the disk is behind; `onUncongested` is then called once after it has caught up. */
  isCongested(onUncongested: () => void): boolean {
    if (this.#queue.length < MAX_QUEUED_BLOCKS) return false;
    this.#onUncongested = onUncongested;
    return true;
  }

  /** Reads a range of the kept bytes; shorter at the end. Waits for pending writes. */
  async read(offset: number, length: number): Promise<Buffer> {
    if (this.#memory) return Buffer.from(this.#memory.subarray(offset, Math.min(offset + length, this.#kept)));
    if (offset + length > this.#written) await this.flush();
    if (!this.#isOnDisk || this.#isDisposed || offset >= this.#written) return Buffer.alloc(0);
    const buffer = Buffer.allocUnsafe(Math.min(length, this.#written - offset));
    const { bytesRead } = await this.#withFile((fd) => readAt(fd, buffer, 0, buffer.length, offset));
    return buffer.subarray(0, bytesRead);
  }

  /** Waits until the kept bytes are written, or have failed: then `error` is final. Undefined for small outputs. */
  flush(): Promise<void> | undefined {
    if (!this.#isOnDisk) return undefined;
    this.#flushBlock();
    return this.#writing;
  }

  /** Notes that the command has ended: its background jobs may still write, but may be evicted. */
  end(): void {
    void this.flush();
    this.#hasEnded = true;
    this.#budget.noteEnd(this);
    void this.#closeUnused();
  }

  async giveWay(): Promise<void> {
    this.#error = 'newer output needed its room (spool_mb_limit)';
    await this[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#isFull = true;
    this.#memory = undefined;
    this.#queue.length = 0;
    this.#budget.forget(this);
    this.#budget.give(this.#kept);
    this.#kept = 0;
    this.#hasEnded = true;
    await this.#writing;
    await this.#closeUnused();
    if (this.#isOnDisk) await removeFile(this.#path, { force: true });
  }

  get #isOnDisk(): boolean {
    return this.#path !== '';
  }

  async #withFile<T>(use: (fd: number) => Promise<T>): Promise<T> {
    this.#fd ??= openSync(this.#path, constants.O_RDWR | constants.O_NOFOLLOW);
    this.#users += 1;
    try {
      return await use(this.#fd);
    } finally {
      this.#users -= 1;
      await this.#closeUnused();
    }
  }

  /** Closes the file of an ended command: hundreds of those are kept. */
  async #closeUnused(): Promise<void> {
    const fd = this.#fd;
    if (fd === undefined || !this.#hasEnded || this.#users > 0) return;
    // Cleared first: later reads must not use a descriptor number that may have been reused.
    this.#fd = undefined;
    // EIO: what could not be written shows when it is read.
    await closeFd(fd).catch(() => undefined);
  }

  #keep(bytes: Uint8Array): void {
    const total = this.#kept + bytes.length;
    if (!this.#isOnDisk && total <= IN_MEMORY_BYTES) {
      this.#growMemory(total).set(bytes, this.#kept);
    } else {
      if (!this.#isOnDisk) this.#moveToFile();
      if (this.#hasFailed) {
        this.#budget.give(bytes.length);
        return;
      }
      this.#append(bytes);
    }
    this.#kept = total;
  }

  #growMemory(needed: number): Buffer {
    const memory = this.#memory ?? Buffer.alloc(0);
    if (memory.length >= needed) return memory;
    const grown = Buffer.allocUnsafeSlow(Math.min(IN_MEMORY_BYTES, Math.max(needed, memory.length * 2)));
    grown.set(memory.subarray(0, this.#kept));
    this.#memory = grown;
    return grown;
  }

  #moveToFile(): void {
    const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    const path = join(this.#directory, randomBytes(12).toString('hex'));
    try {
      this.#fd = openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    } catch (error) {
      // Without a file the beginning stays in memory, and the rest is lost.
      this.#fail(error);
      return;
    }
    this.#path = path;
    const memory = this.#memory;
    this.#memory = undefined;
    if (memory) this.#append(memory.subarray(0, this.#kept));
  }

  #append(bytes: Uint8Array): void {
    let rest = bytes;
    while (rest.length > 0) {
      this.#block ??= sharedBlocks.take();
      const part = rest.subarray(0, BLOCK_BYTES - this.#blockLength);
      this.#block.set(part, this.#blockLength);
      this.#blockLength += part.length;
      rest = rest.subarray(part.length);
      if (this.#blockLength === BLOCK_BYTES) this.#flushBlock();
    }
  }

  #flushBlock(): void {
    if (!this.#block || this.#blockLength === 0) return;
    this.#queue.push(this.#block.subarray(0, this.#blockLength));
    this.#block = undefined;
    this.#blockLength = 0;
    this.#writing ??= this.#writeQueue();
  }

  async #writeQueue(): Promise<void> {
    while (this.#queue.length > 0) {
      const blocks = this.#queue.slice();
      try {
        await this.#withFile((fd) => this.#writeAll(fd, blocks));
      } catch (error) {
        this.#fail(error);
      }
      this.#queue.splice(0, blocks.length);
      sharedBlocks.give(blocks);
      this.#onUncongested?.();
      this.#onUncongested = undefined;
    }
    this.#writing = undefined;
  }

  async #writeAll(fd: number, blocks: readonly Buffer[]): Promise<void> {
    let rest = blocks;
    while (rest.length > 0) {
      const { bytesWritten } = await writeBlocks(fd, rest, this.#written);
      this.#written += bytesWritten;
      rest = withoutFirst(bytesWritten, rest);
    }
  }

  #fail(error: unknown): void {
    this.#isFull = true;
    this.#hasFailed = true;
    this.#error ??= (error as Error).message;
    this.#queue.length = 0;
    this.#block = undefined;
    this.#blockLength = 0;
    // The part in memory stays; of a file, the written part.
    if (this.#memory || this.#isDisposed) return;
    this.#budget.give(this.#kept - this.#written);
    this.#kept = this.#written;
  }
}

/** Returns the rest of some blocks without their first bytes. */
function withoutFirst(bytes: number, blocks: readonly Buffer[]): Buffer[] {
  let left = bytes;
  return blocks.flatMap((block) => {
    const taken = Math.min(left, block.length);
    left -= taken;
    return taken === block.length ? [] : [block.subarray(taken)];
  });
}
