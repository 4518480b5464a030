import type { StarterReport } from './messages.js';

/** Report of an ended process, without the bytes written. */
export type EndReport = Exclude<StarterReport, { readonly kind: 'started' | 'failed' }>;

/** Dependencies of `EndedProcesses`. */
export interface EndedProcessesOptions {
  /**
   * Returns the bytes that this process, which writes nothing itself, and the children it has waited for have caused to
   * be written; undefined when the kernel does not report it.
   */
  readonly written: () => number | undefined;
  readonly report: (message: EndReport) => void;
  /** Calls back after all ends that arrived together have been added. */
  readonly defer: (action: () => void) => void;
}

/**
 * Adds the bytes written to the report of each ended process: the growth of its parent's counter when the parent has
 * waited for it. For several processes that are waited for in one go only the sum is known, which is conclusive for
 * each of them when it is 0.
 */
export class EndedProcesses {
  readonly #options: EndedProcessesOptions;
  #known: number | undefined;
  /** Processes that have ended together, of which at least one has written data. */
  #together: EndReport[] = [];
  #grownBytes = 0;

  constructor(options: EndedProcessesOptions) {
    this.#options = options;
    this.#known = options.written();
  }

  /** Adds a process that has ended and was waited for. */
  add(end: EndReport): void {
    const { written, report, defer } = this.#options;
    const now = written();
    const grown = now === undefined || this.#known === undefined ? undefined : now - this.#known;
    this.#known = now;
    if (this.#together.length > 0) {
      this.#together.push(end);
      this.#grownBytes += grown ?? NaN;
    } else if (grown === undefined || grown === 0) report({ ...end, writtenBytes: grown });
    else {
      this.#together = [end];
      this.#grownBytes = grown;
      defer(() => {
        this.#reportTogether();
      });
    }
  }

  #reportTogether(): void {
    const ends = this.#together;
    const isAlone = ends.length === 1 && !Number.isNaN(this.#grownBytes);
    this.#together = [];
    for (const end of ends) this.#options.report(isAlone ? { ...end, writtenBytes: this.#grownBytes } : end);
  }
}
