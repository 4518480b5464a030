import { compileLinePattern, type LinePattern } from '../../core/output/line-search.js';
import type { FollowedScreen } from '../screens/screens.js';
import type { Condition, Waited } from './condition.js';

/** What a screen has to show. */
export interface ScreenWish {
  /** A text within one line. */
  readonly text?: LinePattern | undefined;
  /** Time without a change, in milliseconds, from the beginning of the wait at the earliest. */
  readonly stableMs?: number | undefined;
}

/** Until the screen of a command shows a text, or has been still for a time. */
export class ScreenCondition implements Condition {
  readonly #screen: FollowedScreen;
  readonly #find: ((line: string) => number) | undefined;
  readonly #stableMs: number | undefined;
  readonly #leave: () => void;
  readonly #forgetEnd: () => void;
  #fingerprint = '';
  #stillSince = performance.now();
  #shown: Pick<Waited, 'screen'> = {};

  /** @throws AdapterError INVALID_REQUEST for a wrong pattern */
  constructor(screen: FollowedScreen, { text, stableMs }: ScreenWish, wake: () => void) {
    this.#screen = screen;
    this.#find = text && compileLinePattern(text, 'screen_text').find;
    this.#stableMs = stableMs;
    this.#leave = screen.command.stdout.onGrowth(wake);
    this.#forgetEnd = screen.command.atEnd('answer', wake);
  }

  get nextLookMs(): number {
    if (this.#stableMs === undefined) return Infinity;
    return Math.max(1, this.#stillSince + this.#stableMs - performance.now());
  }

  get shownAtTimeout(): Pick<Waited, 'screen'> {
    return this.#shown;
  }

  async look(): Promise<Waited | undefined> {
    // What was printed before the end counts, so the end is looked at first.
    const { outcome } = this.#screen.command;
    const screen = await this.#screen.draw();
    this.#shown = { screen: screen.view(false) };
    const find = this.#find;
    if (find && screen.lines().some((line) => find(line) !== -1)) {
      return { met: true, condition: 'screen_text', ...this.#shown };
    }
    if (this.#stableMs !== undefined) return this.#stillFor(this.#stableMs, screen.fingerprint());
    return outcome && { met: false, condition: 'end', exit_code: outcome.exitCode, ...this.#shown };
  }

  [Symbol.dispose](): void {
    this.#leave();
    this.#forgetEnd();
  }

  #stillFor(stableMs: number, fingerprint: string): Waited | undefined {
    const now = performance.now();
    if (fingerprint !== this.#fingerprint) {
      this.#fingerprint = fingerprint;
      this.#stillSince = now;
    }
    if (now - this.#stillSince < stableMs) return undefined;
    return { met: true, condition: 'screen_stable', ...this.#shown };
  }
}
