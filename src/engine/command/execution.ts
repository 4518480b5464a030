import { type OutputPipe, PipeFeed } from '../output/output-pipe.js';
import type { LeftOutput } from '../process/ending-filters.js';
import type { Stage } from '../system/stage-timer.js';
import type { Command } from './command.js';

/** A command in flight, in the shell of a session or in a process of its own: its outputs and its time-outs. */
export class Execution {
  readonly command: Command;
  readonly stdout: PipeFeed;
  readonly stderr: PipeFeed;
  /** Whether the result may wait for filters that the ended command has left. */
  mayLinger = true;
  /** The outputs that a process still held when they were last read. */
  protected held: readonly PipeFeed[];
  readonly #onOutput: () => void;
  /** When it has last printed something, on the monotonic clock; for a time-out without output. */
  #printedAt = 0;

  /** @param onOutput called whenever it prints something */
  constructor(
    command: Command,
    pipes: { readonly out: OutputPipe; readonly err: OutputPipe },
    onOutput: () => void = () => undefined,
  ) {
    this.command = command;
    this.stdout = new PipeFeed(pipes.out, command.stdout, this.noteOutput);
    this.stderr = new PipeFeed(pipes.err, command.stderr, this.noteOutput);
    this.held = this.outputs;
    this.#onOutput = onOutput;
  }

  protected get outputs(): readonly PipeFeed[] {
    return [this.stdout, this.stderr];
  }

  /** Pauses or resumes reading of the output (backpressure). */
  holdForClient(isHeld: boolean): void {
    this.stdout.holdForClient(isHeld);
    this.stderr.holdForClient(isHeld);
  }

  /** Reads all that the pipes hold; returns whether a process still holds them. */
  drain(): boolean {
    return this.outputs.filter((feed) => feed.drain() === 'held').length > 0;
  }

  /** The same, but reads nothing while a client or the disk is behind. */
  readonly readOutput = (): boolean => {
    this.held = this.outputs.filter((feed) => feed.drainUnlessHeld() === 'held');
    return this.held.length > 0;
  };

  /** Leaves the pipes. */
  release(): void {
    for (const feed of this.outputs) feed.release();
  }

  /**
   * What is still to come of the output after the end.
   * @param patienceMs longest wait for filters, in milliseconds
   */
  leftOutput(patienceMs: number): LeftOutput {
    const { spec, ageMs } = this.command;
    return {
      read: this.readOutput,
      patienceMs: Math.min(patienceMs, spec.timeoutMs - ageMs),
      isOver: () => !this.mayLinger,
    };
  }

  /**
   * The time-outs, as stages that begin now.
   * @param leftMs until the time-out, in milliseconds
   */
  timeOuts(leftMs: number, onTimeOut: () => void): Stage[] {
    const { noOutputTimeoutMs: quietMs } = this.command.spec;
    const now = performance.now();
    this.#printedAt = now;
    const run = (): undefined => {
      onTimeOut();
    };
    const timeOut: Stage = { dueAt: now + leftMs, run };
    if (quietMs === undefined) return [timeOut];
    const runWhenQuiet = (): number | undefined => {
      const quietLeftMs = this.#printedAt + quietMs - performance.now();
      if (quietLeftMs > 0) return quietLeftMs;
      onTimeOut();
      return undefined;
    };
    return [timeOut, { dueAt: now + quietMs, run: runWhenQuiet }];
  }

  protected readonly noteOutput = (): void => {
    if (this.command.spec.noOutputTimeoutMs !== undefined) this.#printedAt = performance.now();
    this.#onOutput();
  };
}
