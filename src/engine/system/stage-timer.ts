import { MAX_TIMER_MS } from '../../core/time.js';

/** What is done when something has lasted for a time. */
export interface Stage {
  /** When it is due, on the monotonic clock, in milliseconds. */
  dueAt: number;
  /** Returns in how many milliseconds it is due again; undefined for never. */
  readonly run: () => number | undefined;
}

/** How much earlier than the monotonic clock a timer of Node.js may fire, in milliseconds. */
const EARLY_MS = 1;

/** Time until a stage that has thrown is run again, in milliseconds. */
const RETRY_MS = 1000;

/**
 * One timer for the stages of what begins often and rarely lasts. The first stage comes the same time after each beginning, which
 * costs one `refresh`; it sets the later ones, if there are any. Keeps no process alive.
 */
export class StageTimer implements Disposable {
  readonly #first: NodeJS.Timeout;
  /** The first stage is due in the next turn. */
  #due: NodeJS.Immediate | undefined;
  #later: NodeJS.Timeout | undefined;
  #stages: readonly Stage[] = [];

  /**
   * @param firstMs until the first stage, in milliseconds
   * @param onFirst called in the turn of the event loop after that: events that are pending on a loaded machine come before
   */
  constructor(firstMs: number, onFirst: () => void) {
    this.#first = setTimeout(() => {
      this.#due = setImmediate(() => {
        this.#due = undefined;
        onFirst();
      });
    }, firstMs).unref();
  }

  /** Begins again, with the first stage. */
  begin(): void {
    this.#first.refresh();
    this.#takeBack();
    this.end();
  }

  /** Sets the later stages. */
  set(stages: readonly Stage[]): void {
    this.#stages = stages;
    this.#arm();
  }

  /** Makes a stage due within a time, in milliseconds. */
  bringForward(stage: Stage, ms: number): void {
    const dueAt = performance.now() + ms;
    if (dueAt >= stage.dueAt) return;
    stage.dueAt = dueAt;
    this.#arm();
  }

  /** Drops the later stages. */
  end(): void {
    clearTimeout(this.#later);
    this.#later = undefined;
    this.#stages = [];
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#first);
    this.#takeBack();
    this.end();
  }

  /** What has begun again is not due for what was before. */
  #takeBack(): void {
    if (this.#due === undefined) return;
    clearImmediate(this.#due);
    this.#due = undefined;
  }

  #arm(): void {
    clearTimeout(this.#later);
    const dueAt = Math.min(...this.#stages.map((stage) => stage.dueAt));
    const ms = Math.min(MAX_TIMER_MS, Math.max(0, dueAt - performance.now()));
    this.#later = dueAt === Infinity ? undefined : setTimeout(this.#onDue, ms).unref();
  }

  readonly #onDue = (): void => {
    const stages = this.#stages;
    try {
      for (const stage of stages) {
        if (stage.dueAt > performance.now() + EARLY_MS) continue;
        // One that throws is tried again, and keeps no other from running.
        stage.dueAt = performance.now() + RETRY_MS;
        const againMs = stage.run();
        stage.dueAt = againMs === undefined ? Infinity : performance.now() + againMs;
        // It has ended what the stages belong to.
        if (this.#stages !== stages) return;
      }
    } finally {
      if (this.#stages === stages) this.#arm();
    }
  };
}
