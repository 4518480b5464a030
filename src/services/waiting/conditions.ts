import type { Command } from '../../engine/command/command.js';
import { PathEvents } from '../../engine/files/watch.js';
import type { OutputStream } from '../../engine/output/output-stream.js';
import type { Existence } from '../files/files.js';
import type { Condition, Waited } from './condition.js';
import type { PatternWatch } from './pattern-watch.js';

/** Time between two looks at a path without events, in milliseconds. */
const PATH_LOOK_MS = 50;
/**
 * The same for paths of a sandbox or of another user, where each look takes a program, and beside events: file systems of
 * a network, and links whose target comes, have none.
 */
const SLOW_PATH_LOOK_MS = 1000;

const nothing = (): void => undefined;

/**
 * Until something listens on a port.
 * @param nextLookMs there are no events for listening
 */
export const portCondition = (listens: () => Promise<boolean>, nextLookMs: number): Condition => ({
  look: async () => ((await listens()) ? { met: true, condition: 'port' } : undefined),
  nextLookMs,
  [Symbol.dispose]: nothing,
});

/** Until a path exists. */
export class PathCondition implements Condition {
  readonly #existence: Existence;
  readonly #events: PathEvents | undefined;
  #nextAt = 0;
  #nextLookMs = PATH_LOOK_MS;

  constructor(existence: Existence, wake: () => void) {
    this.#existence = existence;
    this.#events = existence.isConfined ? undefined : new PathEvents(existence.path, wake);
  }

  get nextLookMs(): number {
    return this.#nextLookMs;
  }

  async look(): Promise<Waited | undefined> {
    if (!this.#events && performance.now() < this.#nextAt) return undefined;
    const hasEvents = this.#events?.renew() ?? false;
    this.#nextLookMs = hasEvents || this.#existence.isConfined ? SLOW_PATH_LOOK_MS : PATH_LOOK_MS;
    this.#nextAt = performance.now() + this.#nextLookMs;
    return (await this.#existence.exists()) ? { met: true, condition: 'path' } : undefined;
  }

  [Symbol.dispose](): void {
    this.#events?.[Symbol.dispose]();
  }
}

/** Until a command has printed a pattern, or has ended. */
export class CommandCondition implements Condition {
  readonly #command: Command;
  readonly #watch: PatternWatch | undefined;
  readonly #leave: () => void;
  readonly #forgetEnd: () => void;

  /** @param watch what it has to print; undefined to wait for its end */
  constructor(command: Command, watch: PatternWatch | undefined, output: OutputStream, wake: () => void) {
    this.#command = command;
    this.#watch = watch;
    this.#leave = watch ? output.onGrowth(wake) : nothing;
    this.#forgetEnd = command.atEnd('answer', wake);
  }

  get nextLookMs(): number {
    return this.#watch?.isBehind === true ? 0 : Infinity;
  }

  async look(): Promise<Waited | undefined> {
    // What was printed before the end counts, so the end is looked at first.
    const { outcome } = this.#command;
    const match = await this.#watch?.look(outcome !== undefined);
    if (match) return { met: true, condition: 'pattern', match };
    return outcome && { met: this.#watch === undefined, condition: 'end', exit_code: outcome.exitCode };
  }

  [Symbol.dispose](): void {
    this.#leave();
    this.#forgetEnd();
  }
}
