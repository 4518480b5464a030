import type { StarterReport } from './messages.js';

/** The report of a process that has ended, without what it has written. */
export type EndReport = Exclude<StarterReport, { readonly kind: 'started' | 'failed' }>;

/** What the reports of ended processes are made with. */
export interface EndedProcessesOptions {
  /**
   * Bytes that this process, which writes nothing itself, and the children it has waited for have caused to be written;
   * undefined when that is not told.
   */
  readonly written: () => number | undefined;
  readonly report: (message: EndReport) => void;
  /** Calls back when all ends that have come together have been told of. */
  readonly defer: (action: () => void) => void;
}

/**
 * Tells of each process that has ended what it has written: by that much its parent's counter has grown when it has waited
 * for it. Of several that are waited for in one go only the sum is known, which says something of each when it is 0.
 */
export class EndedProcesses {
  readonly #options: EndedProcessesOptions;
  #known: number | undefined;
  /** Those that have ended together, of which at least one has written something. */
  #together: EndReport[] = [];
  #grownBytes = 0;

  constructor(options: EndedProcessesOptions) {
    this.#options = options;
    this.#known = options.written();
  }

  /** A process has ended and was waited for. */
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
