import { setTimeout as sleep } from 'node:timers/promises';

import type { Timeline } from '../../core/recording/timeline.js';
import { MAX_TIMER_MS } from '../../core/time.js';

/** How far an arrow key moves, in milliseconds. */
const STEP_MS = 5000;
/** Resets the terminal, before a recording is shown again from its beginning. */
const RESET = '\x1bc';

/** An arrow key as a terminal sends it, and as it does when a program that is shown has switched to application mode. */
const bothForms = (letter: string, action: () => void) => ({ [`\x1b[${letter}`]: action, [`\x1bO${letter}`]: action });

/** Settings of a player. */
export interface PlayerOptions {
  readonly speed: number;
  /** Resolves when more may be written. */
  readonly write: (text: string) => Promise<void>;
}

/** Plays a recording with its timing; keys pause, move and end it. */
export class Player {
  readonly #timeline: Timeline;
  readonly #options: PlayerOptions;
  /** Index of the next event. */
  #next = 0;
  /** Position at `#since`, in milliseconds. */
  #position = 0;
  #since = performance.now();
  #isPaused = false;
  #isStopped = false;
  #wake = new AbortController();
  /** Position to move to; undefined when it plays on. */
  #target: number | undefined;

  constructor(timeline: Timeline, options: PlayerOptions) {
    this.#timeline = timeline;
    this.#options = options;
  }

  /** Plays until the end; a pause at the end is over at once. */
  async play(): Promise<void> {
    this.#since = performance.now();
    while (!this.#isStopped) {
      if (this.#target !== undefined) await this.#move(this.#target);
      else if (this.#next >= this.#timeline.events.length) return;
      else await this.#step();
    }
  }

  /** Ends it. */
  stop(): void {
    this.#isStopped = true;
    this.#interrupt();
  }

  /** Takes keys of a terminal in raw mode. */
  press(keys: string): void {
    const action = this.#keys[keys];
    if (!action) return;
    action();
    this.#interrupt();
  }

  readonly #keys: Readonly<Partial<Record<string, () => void>>> = {
    ' ': () => {
      this.#hold(!this.#isPaused);
    },
    ...bothForms('C', () => (this.#target = this.#now + STEP_MS)),
    ...bothForms('D', () => (this.#target = Math.max(0, this.#now - STEP_MS))),
    n: () => (this.#target = this.#timeline.marks.find(({ atMs }) => atMs > this.#now)?.atMs ?? this.#target),
    p: () => (this.#target = this.#timeline.marks.findLast(({ atMs }) => atMs < this.#now - 1000)?.atMs ?? 0),
    q: () => (this.#isStopped = true),
    '\x03': () => (this.#isStopped = true),
  };

  get #now(): number {
    if (this.#isPaused) return this.#position;
    return this.#position + (performance.now() - this.#since) * this.#options.speed;
  }

  #hold(isPaused: boolean): void {
    this.#position = this.#now;
    this.#since = performance.now();
    this.#isPaused = isPaused;
  }

  #interrupt(): void {
    this.#wake.abort();
    this.#wake = new AbortController();
  }

  async #step(): Promise<void> {
    const dueInMs = (this.#timeline.timeOf(this.#next) - this.#now) / this.#options.speed;
    if (this.#isPaused || dueInMs > 0) {
      const waitMs = this.#isPaused ? MAX_TIMER_MS : Math.min(dueInMs, MAX_TIMER_MS);
      await sleep(waitMs, undefined, { signal: this.#wake.signal }).catch(() => undefined);
      return;
    }
    const until = Math.max(this.#next + 1, this.#timeline.indexAfter(this.#now));
    await this.#show(until);
  }

  async #move(target: number): Promise<void> {
    this.#target = undefined;
    const until = this.#timeline.indexAfter(target);
    if (until < this.#next) {
      this.#next = 0;
      await this.#options.write(RESET);
    }
    this.#position = Math.min(target, this.#timeline.durationMs);
    this.#since = performance.now();
    await this.#show(until);
  }

  async #show(until: number): Promise<void> {
    const output = this.#timeline.outputOf(this.#next, until);
    this.#next = until;
    if (output !== '') await this.#options.write(output);
  }
}
