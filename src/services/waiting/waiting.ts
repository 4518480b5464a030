import { setTimeout as pause } from 'node:timers/promises';

import type { Principal } from '../../core/access/principal.js';
import { AdapterError } from '../../core/errors.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import type { Files } from '../files/files.js';
import type { Caller } from '../registry/caller.js';
import type { CommandRegistry } from '../registry/command-registry.js';
import type { Connections } from '../registry/connections.js';
import type { SessionRegistry } from '../registry/session-registry.js';
import type { Screens } from '../screens/screens.js';
import type { Condition, Waited } from './condition.js';
import { CommandCondition, PathCondition, portCondition } from './conditions.js';
import { PatternWatch } from './pattern-watch.js';
import type { Ports } from './ports.js';
import { ScreenCondition } from './screen-condition.js';
import { Wake } from './wake.js';

const DEFAULT_TIMEOUT_MS = 30_000;
/** Most requests of a token that wait at once. */
const MAX_WAITING = 32;
/** Time after which a client that is told to come back may do so, in milliseconds. */
const RETRY_AFTER_MS = 1000;
/** Longest time until a gone client and a stopping daemon are noticed, in milliseconds. */
const MAX_SLEEP_MS = 100;
/** Longest pause after a long look, in milliseconds. */
const MAX_PAUSE_MS = 100;

type Wish = Request<'wait_for'>;

const NOT_MET: Waited = { met: false, condition: null };

/** Dependencies of `Waiting`. */
export interface WaitingOptions {
  readonly sessions: Pick<SessionRegistry, 'get'>;
  readonly commands: Pick<CommandRegistry, 'get'>;
  readonly screens: Pick<Screens, 'follow'>;
  readonly files: Pick<Files, 'existence'>;
  readonly ports: Pick<Ports, 'listensHere' | 'listensIn' | 'lookMs'>;
  readonly connections: Pick<Connections, 'all'>;
  readonly isClosing: () => boolean;
}

/** Waits for ports, files, outputs, screens and ends of commands on behalf of clients. */
export class Waiting {
  readonly #options: WaitingOptions;
  /** Number of waiting requests by principal id. */
  readonly #waiting = new Map<string, number>();

  constructor(options: WaitingOptions) {
    this.#options = options;
  }

  /**
   * Waits until the first condition is met, or the time is over.
   * @throws AdapterError SESSION_NOT_FOUND, COMMAND_NOT_FOUND, NO_RUNNING_COMMAND, INVALID_REQUEST, OUTPUT_EXPIRED,
   *   RATE_LIMITED, SHUTTING_DOWN, errors of files
   */
  async waitFor(request: Wish, caller: Caller): Promise<Answer<'wait_for'>> {
    const { id } = caller.principal;
    const count = this.#waiting.get(id) ?? 0;
    if (count >= MAX_WAITING) {
      throw new AdapterError('RATE_LIMITED', `${MAX_WAITING} requests of this token wait already`, {
        details: { max_waiting: MAX_WAITING, retry_after_ms: RETRY_AFTER_MS },
      });
    }
    this.#waiting.set(id, count + 1);
    const begin = performance.now();
    try {
      const waited = await this.#wait(request, caller, begin + (request.timeout_ms ?? DEFAULT_TIMEOUT_MS));
      return { ...waited, waited_ms: Math.round(performance.now() - begin) };
    } finally {
      const left = (this.#waiting.get(id) ?? 1) - 1;
      if (left > 0) this.#waiting.set(id, left);
      else this.#waiting.delete(id);
    }
  }

  async #wait(request: Wish, caller: Caller, deadline: number): Promise<Waited> {
    using wake = new Wake();
    const conditions: Condition[] = [];
    try {
      for await (const condition of this.#conditionsOf(request, caller, wake.now)) conditions.push(condition);
      return await this.#first(conditions, { wake, deadline, isGone: this.#goneCheck(caller) });
    } finally {
      for (const condition of conditions) condition[Symbol.dispose]();
    }
  }

  async #first(conditions: readonly Condition[], { wake, deadline, isGone }: Bounds): Promise<Waited> {
    for (;;) {
      wake.reset();
      const begin = performance.now();
      for (const condition of conditions) {
        const waited = await condition.look();
        if (waited) return waited;
      }
      const now = performance.now();
      if (now >= deadline || isGone()) return { ...NOT_MET, ...shownBy(conditions) };
      if (this.#options.isClosing()) throw new AdapterError('SHUTTING_DOWN', 'the daemon is being stopped');
      // A flood of events is looked at for half of the time at most.
      await pause(Math.min(now - begin, MAX_PAUSE_MS, deadline - now));
      const nextLookMs = Math.min(...conditions.map((each) => each.nextLookMs));
      await wake.sleep(Math.min(nextLookMs, deadline - performance.now(), MAX_SLEEP_MS));
    }
  }

  async *#conditionsOf(request: Wish, caller: Caller, wake: () => void): AsyncGenerator<Condition> {
    const { port, path, session_id, screen_text: text, screen_stable_ms: stableMs } = request;
    const { principal } = caller;
    const { sessions, files, screens, ports } = this.#options;
    if (port !== undefined) {
      const listens = () =>
        session_id === undefined
          ? ports.listensHere(port)
          : ports.listensIn(sessions.get(session_id, principal, 'see'), port);
      yield portCondition(listens, ports.lookMs);
    }
    const hasScreen = text !== undefined || stableMs !== undefined;
    if (hasScreen) {
      const wish = { text: text === undefined ? undefined : { pattern: text, regex: request.regex }, stableMs };
      yield new ScreenCondition(screens.follow(request, principal), wish, wake);
    }
    // The condition of the screen reports the end of its command itself.
    if (!hasScreen || request.pattern !== undefined) yield* this.#commandCondition(request, principal, wake);
    // Whether a path exists is told only to clients that may ask for it.
    if (path !== undefined) yield new PathCondition(await files.existence({ path, session_id }, caller), wake);
  }

  *#commandCondition(request: Wish, principal: Principal, wake: () => void): Generator<Condition> {
    const { command_id: id, pattern, regex, stream = 'stdout', from_offset: offset = 0 } = request;
    if (id === undefined) return;
    const { command } = this.#options.commands.get(id, principal, 'see');
    const output = command[stream];
    const watch = pattern === undefined ? undefined : new PatternWatch(output, { pattern, regex }, offset);
    yield new CommandCondition(command, watch, output, wake);
  }

  /** A client of which nothing is left waits for nothing. */
  #goneCheck({ sink }: Caller): () => boolean {
    const isThere = () => this.#options.connections.all().some((each) => each.sink === sink);
    return sink && isThere() ? () => !isThere() : () => false;
  }
}

/** What a wait needs besides its conditions. */
interface Bounds {
  readonly wake: Wake;
  /** On the monotonic clock. */
  readonly deadline: number;
  readonly isGone: () => boolean;
}

const shownBy = (conditions: readonly Condition[]): Pick<Waited, 'screen'> =>
  Object.assign({}, ...conditions.map((each) => each.shownAtTimeout)) as Pick<Waited, 'screen'>;
