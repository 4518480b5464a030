import type { OpenPipes, ProcessEntry, Processes } from '../platform/platform.js';
import type { SessionScope } from './find-processes.js';

/** A process that a command has left, and the pipes between it and others. */
interface Filter extends OpenPipes {
  readonly entry: ProcessEntry;
}

/**
 * Finds the processes among those that a command has left which end by themselves, such as `sed` in `echo a > >(sed s/a/b/)`: standard
 * input is a pipe that only such processes can still write to, and they read it, write what comes of it, or wait for one another.
 * Empty where the platform does not show pipes.
 */
export function findEndingFilters(left: readonly ProcessEntry[], { root, processes }: SessionScope): ProcessEntry[] {
  const pipes = left.map((entry): Filter => ({ entry, ...processes.pipesOf(entry.pid) }));
  const ofShell = (root?.rootPids ?? []).flatMap((pid) => processes.pipesOf(pid).written);
  let filters = pipes.filter((filter) => mayEnd(filter, processes));
  for (let before = Infinity; filters.length < before;) {
    before = filters.length;
    const others = pipes.filter((other) => !filters.includes(other));
    const written = new Set([...ofShell, ...others.flatMap((other) => other.written)]);
    const waiting = new Set(others.map(({ entry }) => entry.parent));
    filters = filters.filter(({ entry, input = '' }) => !written.has(input) && !waiting.has(entry.pid));
  }
  return filters.map(({ entry }) => entry);
}

function mayEnd({ entry, input, written }: Filter, processes: Processes): boolean {
  // Just forked: its standard input is not in its place yet.
  if (processes.isWaitingForCpu(entry)) return true;
  return input !== undefined && !written.includes(input) && processes.isAtWork(entry.pid);
}

/** The output of a command that has ended. */
export interface LeftOutput {
  /** Reads what the pipes hold; returns whether a process still holds them. */
  readonly read: () => boolean;
  /** Longest wait for filters, in milliseconds. */
  readonly patienceMs: number;
  /** Whether filters are waited for no longer. */
  readonly isOver: () => boolean;
}

/** What processes that a command has left still print, as far as they only read the rest of their input. */
export class RestOfOutput {
  readonly #scope: SessionScope;
  readonly #output: LeftOutput;
  readonly #until: number;
  #hadFilters = false;
  #isComing = false;
  #hasHolder = false;

  constructor(scope: SessionScope, output: LeftOutput) {
    this.#scope = scope;
    this.#output = output;
    this.#until = performance.now() + output.patienceMs;
  }

  /** Reads the output so far. */
  read(left: readonly ProcessEntry[]): void {
    const isHeld = this.#output.read();
    const mayWait = isHeld && !this.#output.isOver() && performance.now() < this.#until;
    this.#isComing = mayWait && findEndingFilters(left, this.#scope).length > 0;
    this.#hadFilters ||= this.#isComing;
    // Another process that held the pipes may have started one that does not.
    this.#hasHolder = isHeld || (this.#hasHolder && !this.#hadFilters);
  }

  /** Whether filters still print. */
  get isComing(): boolean {
    return this.#isComing;
  }

  /** Whether a process must still run: it holds the pipes, or has held them. */
  get hasHolder(): boolean {
    return this.#hasHolder;
  }
}
