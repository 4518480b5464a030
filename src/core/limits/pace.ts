import type { Finding } from './judge.js';

/** Time until the first sample of a command, and the shortest interval between two, in milliseconds. */
export const SHORTEST_MS = 5;
/** The longest interval while a command with limits runs, in milliseconds. */
const BUSY_MS = 100;
/**
 * The same while nothing changes, where sampling is expensive. Growth that begins then is noticed up to 200 ms later.
 */
const STILL_MS = 300;
/**
 * The longest interval while no limit can be exceeded soon, in milliseconds: without limits, or with background
 * processes only.
 */
const IDLE_MS = 1000;

/** Facts that determine the next interval. */
export interface Pace {
  /** The last interval; undefined before the first sample. */
  readonly lastPauseMs: number | undefined;
  readonly before: readonly Finding[];
  readonly now: readonly Finding[];
  /** Whether a command runs, rather than only background processes of earlier ones. */
  readonly hasCommand: boolean;
  /** Whether sampling is expensive, and nothing has changed since the last sample. */
  readonly isStill: boolean;
}

/**
 * Time until the next sample, in milliseconds. Intervals double from the start of a command, and end before a limit
 * would be exceeded at the current rate of growth.
 */
export function nextPauseMs({ lastPauseMs, before, now, hasCommand, isStill }: Pace): number {
  const longest = hasCommand && now.length > 0 ? (isStill ? STILL_MS : BUSY_MS) : IDLE_MS;
  if (lastPauseMs === undefined) return SHORTEST_MS;
  const pauses = now.map((finding) => {
    const last = before.find(({ resource }) => resource === finding.resource);
    const growth = last ? finding.share - last.share : 0;
    // Half of the estimated time, since growth may accelerate.
    return growth > 0 ? (lastPauseMs * (1 - finding.share)) / growth / 2 : Infinity;
  });
  return Math.round(Math.max(SHORTEST_MS, Math.min(longest, lastPauseMs * 2, ...pauses)));
}

/** The intervals between the samples of one session. */
export class SamplePace {
  #lastPauseMs: number | undefined;
  #before: readonly Finding[] = [];
  #now: readonly Finding[] = [];
  #isStill = false;

  /**
   * Adds the findings of a sample.
   * @param isStill whether nothing has changed since the last one
   */
  note(findings: readonly Finding[], isStill: boolean): void {
    this.#before = this.#now;
    this.#now = findings;
    this.#isStill = isStill;
  }

  /** Starts with the shortest interval again, for another command. */
  restart(): void {
    this.#lastPauseMs = undefined;
  }

  /**
   * Time until the next sample, in milliseconds.
   * @param isExpensive whether samples are to be rarer while nothing changes
   */
  next(hasCommand: boolean, isExpensive: boolean): number {
    const isStill = isExpensive && this.#isStill;
    const state = { lastPauseMs: this.#lastPauseMs, before: this.#before, now: this.#now, hasCommand, isStill };
    this.#lastPauseMs = nextPauseMs(state);
    return this.#lastPauseMs;
  }
}
