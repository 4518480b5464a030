import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Name of our own column, in which the list of traps is, too. */
export const OURS = 'shell-adapter';

/** How often each trap is run. */
export const RUNS = 3;

/** What came of one trap at one system. */
export interface Outcome {
  /** `unsteady`: not the same in every run. */
  readonly outcome: 'passed' | 'failed' | 'unsteady' | 'not_applicable';
  /** What was seen, or why it is not applicable. */
  readonly seen?: string;
  /** Steps that were left out, because they rest on what the system has no notion of. */
  readonly left_out?: number;
  /** Runs that passed, of an unsteady outcome. */
  readonly passed_runs?: number;
}

/** Results of one system: a file `results/NAME.json`. */
export interface Results {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  readonly how: string;
  readonly install: string;
  /** Day of the last run: `2026-01-31`. */
  readonly date: string;
  readonly machine: string;
  readonly runs: number;
  /** In our own file: every trap, in order. */
  readonly traps?: readonly { readonly section: string; readonly id: string; readonly title: string }[];
  /** By the id of the trap. */
  readonly outcomes: Readonly<Record<string, Outcome>>;
}

/** Path of a system's results. */
export const resultsFile = (name: string): string => fileURLToPath(new URL(`results/${name}.json`, import.meta.url));

export const readResults = (name: string): Results => JSON.parse(readFileSync(resultsFile(name), 'utf8')) as Results;
