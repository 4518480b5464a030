import { BoundedQueue, type BoundedQueueOptions } from './bounded-queue.js';
import { type ForeignChange, RotatingFile, type RotationOptions } from './rotating-file.js';

/** Lines per write: bounds how long the daemon does nothing else. */
const BATCH_LINES = 128;
/** Delay before a failed write is retried, in milliseconds. */
const RETRY_MS = 1000;

/** File, queue and rendering of an appender. */
export interface RotatingAppenderOptions<Item> extends RotationOptions, BoundedQueueOptions<Item> {
  /** Renders items as lines, with their line feeds. Called again for items that could not be written. */
  readonly render: (items: readonly Item[]) => readonly Buffer[];
  /** Called before each write; an error counts as one of the file. */
  readonly onOpen?: () => Promise<void>;
  /** Called after the lines of the first `count` rendered items were written. */
  readonly onWritten?: (count: number) => Promise<void>;
  /** Returns an item that reports what another process has done to the file, and is written first. */
  readonly describeChange?: (change: ForeignChange) => Item;
  /** Called when writing starts to fail; not called again until it has worked. */
  readonly onFailure: (error: unknown) => void;
  /** Whether items that could not be written stay in the queue, for another attempt; otherwise they are lost. */
  readonly mustRetry: boolean;
  /**
   * Interval in which items are batched, in milliseconds; the first one after a pause is written immediately.
   * @default 0
   */
  readonly batchMs?: number;
}

/**
 * Appends lines to a rotated file. Adding an item never throws and never blocks: items are rendered and written in the
 * background, in order. While the file cannot be written they wait or are lost; a notice in the file reports how many
 * were lost.
 */
export class RotatingAppender<Item> {
  readonly #options: RotatingAppenderOptions<Item>;
  readonly #file: RotatingFile;
  readonly #queue: BoundedQueue<Item>;
  #writing: Promise<void> | undefined;
  /** Set while a batch is scheduled. */
  #cancelScheduled: (() => void) | undefined;
  #lastBatch = -Infinity;
  #hasFailed = false;
  #isClosed = false;

  constructor(options: RotatingAppenderOptions<Item>) {
    this.#options = options;
    this.#file = new RotatingFile(options);
    this.#queue = new BoundedQueue(options);
  }

  /** Queues an item. After `close` it is ignored. */
  add(item: Item): void {
    if (this.#isClosed) return;
    this.#queue.push(item);
    if (this.#writing === undefined && this.#cancelScheduled === undefined) this.#schedule();
  }

  /** Resolves when all queued items were written, or could not be. */
  async flush(): Promise<void> {
    await this.#writing;
    this.#cancelScheduled?.();
    await this.#startDrain(1);
  }

  /** Writes the queued items, and closes the file. Never rejects; idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
    await this.#file.close();
  }

  /** Writes immediately after a pause: a command that ends the daemon must not be faster than its record. */
  #schedule(): void {
    const { batchMs = 0, mustRetry } = this.#options;
    const waitMs =
      this.#hasFailed && mustRetry ? RETRY_MS : performance.now() - this.#lastBatch < batchMs ? batchMs : 0;
    const drain = () => {
      this.#cancelScheduled = undefined;
      void this.#startDrain(batchMs > 0 ? BATCH_LINES : 1);
    };
    const timer = waitMs > 0 ? setTimeout(drain, waitMs).unref() : undefined;
    const immediate = timer ? undefined : setImmediate(drain);
    this.#cancelScheduled = () => {
      clearTimeout(timer);
      clearImmediate(immediate);
      this.#cancelScheduled = undefined;
    };
  }

  /** @param least items that must be left for another batch to follow at once; fewer wait for the next pause */
  #startDrain(least: number): Promise<void> {
    this.#writing ??= this.#drain(least).finally(() => {
      this.#writing = undefined;
      this.#lastBatch = performance.now();
      if (!this.#isClosed && this.#pending > 0) this.#schedule();
    });
    return this.#writing;
  }

  /** Number of items to write, including the notice of a loss, for which writing must have worked. */
  get #pending(): number {
    return this.#queue.length + (this.#queue.hasLoss && !this.#hasFailed ? 1 : 0);
  }

  async #drain(least: number): Promise<void> {
    while (this.#pending > 0) {
      const lastTried = this.#queue.last;
      try {
        await this.#writeBatch();
        this.#hasFailed = false;
      } catch (error) {
        // Any error of the file system: the disk is full, the folder is missing or not writable.
        await this.#file.close();
        if (!this.#hasFailed) this.#options.onFailure(error);
        this.#hasFailed = true;
        if (this.#options.mustRetry) return;
        // Items queued in the meantime get their own attempt: the disk may have room by then.
        this.#queue.dropUpTo(lastTried);
      }
      if (this.#pending < least) return;
    }
  }

  async #writeBatch(): Promise<void> {
    const { render, describeChange, onOpen, onWritten } = this.#options;
    await onOpen?.();
    const change = await this.#file.open();
    if (change && describeChange) this.#queue.unshift(describeChange(change));
    const batch = this.#queue.peek(BATCH_LINES);
    const lines = render(batch.map(({ item }) => item));
    if (this.#file.countFitting(lines) === 0) {
      await this.#file.rotate();
      await this.#file.open();
    }
    const fitting = lines.slice(0, Math.max(1, this.#file.countFitting(lines)));
    // A notice is kept only if the line after it is: a disk with room for no more is still full.
    const { count, error } = await this.#file.append(fitting, (index) => batch[index]?.reports === undefined);
    this.#queue.remove(count);
    if (count > 0) await onWritten?.(count);
    if (error !== undefined) throw error;
  }
}
