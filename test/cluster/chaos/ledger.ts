import { readFileSync } from 'node:fs';

/** How often a command may have run, as far as its client was told. */
export type Outcome = 'once' | 'never' | 'unknown';

/** A command of which its client knows all that it will know. */
interface Settled {
  readonly id: string;
  readonly outcome: Outcome;
  /** On the clock of `performance.now`: first sent, last answered. */
  readonly from: number;
  readonly to: number;
}

/** A settled command that has not run as often as its client was told. */
interface Difference extends Settled {
  readonly runs: number;
}

/** What clients were told of their commands, and a file to which each command adds a line when it runs. */
export class Ledger {
  readonly file: string;
  readonly #settled: Settled[] = [];

  constructor(file: string) {
    this.file = file;
  }

  /** How many commands are settled, by outcome. */
  get counts(): Readonly<Record<Outcome, number>> {
    const counts = { once: 0, never: 0, unknown: 0 };
    for (const { outcome } of this.#settled) counts[outcome] += 1;
    return counts;
  }

  /** Shell text with which a command says that it runs. */
  mark(id: string): string {
    return `echo ${id} >> '${this.file}'`;
  }

  settle(command: Settled): void {
    this.#settled.push(command);
  }

  /** The commands that have run more often, or less often, than their clients were told. */
  differences(): Difference[] {
    const runs = new Map<string, number>();
    for (const id of readFileSync(this.file, 'utf8').split('\n')) runs.set(id, (runs.get(id) ?? 0) + 1);
    return this.#settled
      .map((settled) => ({ ...settled, runs: runs.get(settled.id) ?? 0 }))
      .filter(({ outcome, runs: count }) => count > MOST[outcome] || count < FEWEST[outcome]);
  }
}

const MOST = { once: 1, never: 0, unknown: 1 };
const FEWEST = { once: 1, never: 0, unknown: 0 };
