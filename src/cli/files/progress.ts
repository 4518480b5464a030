import type { Output } from '../console/context.js';
import { onOneLine } from '../console/style.js';

/** Time between two lines, in milliseconds. */
const INTERVAL_MS = 200;
const MAX_NAME = 40;
const MB = 1_000_000;

/** Shows how far a copy is, on a terminal alone. */
export class CopyProgress {
  readonly #output: Output;
  #name = '';
  #size = 0;
  #done = 0;
  #moved = 0;
  #since = performance.now();
  #shownAt = 0;
  #isShown = false;

  constructor(output: Output) {
    this.#output = output;
  }

  /**
   * Begins another file, or another attempt.
   * @param done bytes that are there already
   */
  begin(name: string, size: number, done: number): void {
    this.#name = name;
    this.#size = size;
    this.#done = done;
    this.#moved = 0;
    this.#since = performance.now();
  }

  /** Notes bytes that were copied. */
  add(bytes: number): void {
    this.#done += bytes;
    this.#moved += bytes;
    const now = performance.now();
    if (!this.#output.isTerminal || now - this.#shownAt < INTERVAL_MS) return;
    this.#shownAt = now;
    this.#isShown = true;
    void this.#output.write(`\r\u001b[K${progressLine(this.#facts(now))}`);
  }

  /** Removes the line. */
  async end(): Promise<void> {
    if (this.#isShown) await this.#output.write('\r\u001b[K');
    this.#isShown = false;
  }

  #facts(now: number): ProgressFacts {
    const bytesPerSecond = (this.#moved * 1000) / Math.max(1, now - this.#since);
    return { name: this.#name, size: this.#size, done: this.#done, bytesPerSecond };
  }
}

/** How far a file is. */
export interface ProgressFacts {
  readonly name: string;
  readonly size: number;
  readonly done: number;
  readonly bytesPerSecond: number;
}

/** The line for a file: its name, the part that is done, its size, and the rate. */
export function progressLine({ name, size, done, bytesPerSecond }: ProgressFacts): string {
  const share = size === 0 ? 100 : Math.floor((done / size) * 100);
  const rate = (bytesPerSecond / MB).toFixed(1);
  return `${onOneLine(name, MAX_NAME)}  ${share} %  ${(done / MB).toFixed(1)} of ${(size / MB).toFixed(1)} MB  ${rate} MB/s`;
}
