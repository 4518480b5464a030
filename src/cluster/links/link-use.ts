/** Looks in the time after which a link is idle. */
const LOOKS = 4;

/** Whether a link is used, and since when it is not. */
export class LinkUse {
  readonly #idleMs: number;
  readonly #onIdle: () => void;
  #users = 0;
  #usedAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  /** @param onIdle called when the link was not used for the time, and again while that stays so */
  constructor(idleMs: number, onIdle: () => void) {
    this.#idleMs = idleMs;
    this.#onIdle = onIdle;
  }

  /** Notes a use that is over. */
  touch(): void {
    this.#usedAt = performance.now();
  }

  /** Notes a use until the function that is returned is called. */
  begin(): () => void {
    this.#users += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#users -= 1;
      this.touch();
    };
  }

  /** Begins to look at the link. */
  watch(): void {
    this.touch();
    this.#timer ??= setInterval(this.#look, this.#idleMs / LOOKS).unref();
  }

  /** Ends that. */
  rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  readonly #look = (): void => {
    if (this.#users > 0) this.touch();
    else if (performance.now() - this.#usedAt >= this.#idleMs) this.#onIdle();
  };
}

/** When the other end has shown last that it runs. */
export class LastSeen {
  #at: Date | undefined;

  /** Undefined before the first time. */
  get at(): Date | undefined {
    return this.#at;
  }

  /** Notes that it runs now. */
  readonly note = (): void => {
    this.#at = new Date();
  };
}
