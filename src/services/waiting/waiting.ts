import { setTimeout as sleep } from 'node:timers/promises';

import type { Principal } from '../../core/access/principal.js';
import { AdapterError } from '../../core/errors.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import type { Files } from '../files/files.js';
import type { Caller } from '../registry/caller.js';
import type { CommandRegistry } from '../registry/command-registry.js';
import type { Connections } from '../registry/connections.js';
import type { SessionRegistry } from '../registry/session-registry.js';
import { PatternWatch } from './pattern-watch.js';
import { listensHere, listensIn } from './ports.js';

/** Time between two looks, in milliseconds. */
const LOOK_MS = 50;
/** The same for paths of a sandbox or of another user, where each look takes a program. */
const SLOW_LOOK_MS = 1000;
const DEFAULT_TIMEOUT_MS = 30_000;
/** Most requests of a token that wait at once. */
const MAX_WAITING = 32;

type Waited = Omit<Answer<'wait_for'>, 'waited_ms'>;
type Wish = Request<'wait_for'>;

/** Looks whether something has come; undefined when it has not. */
type Look = () => Waited | undefined | Promise<Waited | undefined>;

const NOT_MET: Waited = { met: false, condition: null };

/** Dependencies of `Waiting`. */
export interface WaitingOptions {
  readonly sessions: Pick<SessionRegistry, 'get'>;
  readonly commands: Pick<CommandRegistry, 'get'>;
  readonly files: Files;
  readonly connections: Pick<Connections, 'all'>;
  readonly isClosing: () => boolean;
}

/** Waits for ports, files, outputs and ends of commands on behalf of clients. */
export class Waiting {
  readonly #options: WaitingOptions;
  /** Number of waiting requests by principal id. */
  readonly #waiting = new Map<string, number>();

  constructor(options: WaitingOptions) {
    this.#options = options;
  }

  /**
   * Waits until the first condition is met, or the time is over.
   * @throws AdapterError SESSION_NOT_FOUND, COMMAND_NOT_FOUND, INVALID_REQUEST, RATE_LIMITED, SHUTTING_DOWN, errors of files
   */
  async waitFor(request: Wish, caller: Caller): Promise<Answer<'wait_for'>> {
    const { id } = caller.principal;
    const count = this.#waiting.get(id) ?? 0;
    if (count >= MAX_WAITING) {
      throw new AdapterError('RATE_LIMITED', `${MAX_WAITING} requests of this token wait already`, {
        details: { max_waiting: MAX_WAITING, retry_after_ms: LOOK_MS },
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
    const looks = await this.#looksFor(request, caller);
    const isGone = this.#goneCheck(caller);
    for (;;) {
      for (const look of looks) {
        const waited = await look();
        if (waited) return waited;
      }
      const leftMs = deadline - performance.now();
      if (leftMs <= 0 || isGone()) return NOT_MET;
      if (this.#options.isClosing()) throw new AdapterError('SHUTTING_DOWN', 'the daemon is being stopped');
      await sleep(Math.min(LOOK_MS, leftMs));
    }
  }

  async #looksFor(request: Wish, caller: Caller): Promise<readonly Look[]> {
    const { port, path, command_id: commandId } = request;
    const { principal } = caller;
    return [
      ...(port === undefined ? [] : [this.#portLook(port, request, principal)]),
      ...(commandId === undefined ? [] : [this.#commandLook(commandId, request, principal)]),
      ...(path === undefined ? [] : [await this.#pathLook(path, request, caller)]),
    ];
  }

  #portLook(port: number, { session_id: id }: Wish, principal: Principal): Look {
    const listens =
      id === undefined
        ? () => listensHere(port)
        : () => listensIn(this.#options.sessions.get(id, principal, 'see'), port);
    return () => (listens() ? { met: true, condition: 'port' } : undefined);
  }

  #commandLook(commandId: string, request: Wish, principal: Principal): Look {
    const { command } = this.#options.commands.get(commandId, principal, 'see');
    const { pattern, regex, stream = 'stdout', from_offset: offset = 0 } = request;
    const watch = pattern === undefined ? undefined : new PatternWatch(command[stream], { pattern, regex }, offset);
    return async () => {
      // What was printed before the end counts, so the end is looked at first.
      const { outcome } = command;
      const match = await watch?.look(outcome !== undefined);
      if (match) return { met: true, condition: 'pattern', match };
      return outcome && { met: watch === undefined, condition: 'end', exit_code: outcome.exitCode };
    };
  }

  /** Whether a path exists is told only to clients that may ask for it. */
  async #pathLook(path: string, { session_id }: Wish, caller: Caller): Promise<Look> {
    const { exists, isConfined } = await this.#options.files.existence({ path, session_id }, caller);
    const pauseMs = isConfined ? SLOW_LOOK_MS : LOOK_MS;
    let nextAt = 0;
    return async () => {
      if (performance.now() < nextAt) return undefined;
      nextAt = performance.now() + pauseMs;
      return (await exists()) ? { met: true, condition: 'path' } : undefined;
    };
  }

  /** A client of which nothing is left waits for nothing. */
  #goneCheck({ sink }: Caller): () => boolean {
    const isThere = () => this.#options.connections.all().some((each) => each.sink === sink);
    return sink && isThere() ? () => !isThere() : () => false;
  }
}
