import type { Answer } from '../../core/protocol/requests.js';

/** What a wait has come to. */
export type Waited = Omit<Answer<'wait_for'>, 'waited_ms'>;

/** Something to wait for. */
export interface Condition extends Disposable {
  /** Looks whether it has come; undefined when it has not. */
  look(): Waited | undefined | Promise<Waited | undefined>;
  /** Time until it has to be looked at again without an event, in milliseconds; Infinity when events tell all. */
  readonly nextLookMs: number;
  /** What the answer says after the time-out. */
  readonly shownAtTimeout?: Pick<Waited, 'screen'>;
}
