import { setTimeout as pause } from 'node:timers/promises';

import type { Principal } from '../core/principal.js';
import { AdapterError } from '../core/errors.js';
import { compileLinePattern, type LineMatch, type LinePattern, LineSearch } from '../core/output/line-search.js';
import type { Answer, Request } from '../core/protocol/requests.js';
import type { Command } from '../engine/command/command.js';
import { PathEvents } from '../engine/files/watch.js';
import type { OutputStream } from '../engine/output/output-stream.js';
import type { Existence, Files } from './files/files.js';
import type { Caller, Connections } from './registry/caller.js';
import { assertKept } from './registry/command-record.js';
import type { CommandRegistry } from './registry/command-registry.js';
import type { SessionRegistry } from './registry/session-registry.js';
import type { FollowedScreen, Screens } from './screens.js';
import type { Ports } from './listening-ports.js';

type Waited = Omit<Answer<'wait_for'>, 'waited_ms'>;

interface Condition extends Disposable {
  /** Looks whether it has come; undefined when it has not. */
  look(): Waited | undefined | Promise<Waited | undefined>;
  /** Time until it has to be looked at again without an event, in milliseconds; Infinity when events tell all. */
  readonly nextLookMs: number;
  /** What the answer says after the time-out. */
  readonly shownAtTimeout?: Pick<Waited, 'screen'>;
}

/** Size of a piece that is read, in bytes. */
const PIECE_BYTES = 256 * 1024;
/** Most bytes that one look searches, so that other work is not held up. */
const LOOK_BYTES = 4 * 1024 * 1024;

const never = (): boolean => false;

/** Looks for a pattern in an output that grows. A line without its end counts as well: it may be a prompt. */
class PatternWatch {
  readonly #output: OutputStream;
  readonly #find: ReturnType<typeof compileLinePattern>;
  #offset: number;
  #line = 0;
  /** Bytes of the output at the last look. */
  #seen = -1;
  #isBehind = false;

  /**
   * @param offset where to begin, in bytes
   * @throws AdapterError INVALID_REQUEST for a wrong pattern
   */
  constructor(output: OutputStream, pattern: LinePattern, offset: number) {
    this.#output = output;
    this.#find = compileLinePattern(pattern);
    this.#offset = offset;
  }

  /** Whether the last look left some of the output to the next one. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /**
   * Returns the first line with the pattern, if it has come.
   * @param isComplete whether nothing follows, so that all of it is searched
   * @throws AdapterError OUTPUT_EXPIRED
   */
  async look(isComplete: boolean): Promise<LineMatch | undefined> {
    const output = this.#output;
    if (output.bytes === this.#seen) return undefined;
    assertKept(output, this.#offset);
    const search = new LineSearch(this.#find, 1, this.#offset);
    const begin = this.#offset;
    let position = begin;
    this.#isBehind = true;
    while (!search.isFull && (isComplete || position - begin < LOOK_BYTES)) {
      const piece = await output.spool.read(position, PIECE_BYTES);
      if (piece.length === 0) {
        this.#seen = position;
        this.#isBehind = false;
        break;
      }
      position += piece.length;
      search.take(piece, never);
    }
    // The last line stays unsearched for the next look: it may become longer.
    search.takeLast();
    const [match] = search.matches;
    if (match) return { ...match, line: match.line + this.#line };
    this.#offset = search.offset;
    this.#line += search.lines;
    return undefined;
  }
}

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
const portCondition = (listens: () => Promise<boolean>, nextLookMs: number): Condition => ({
  look: async () => ((await listens()) ? { met: true, condition: 'port' } : undefined),
  nextLookMs,
  [Symbol.dispose]: nothing,
});

class PathCondition implements Condition {
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
class CommandCondition implements Condition {
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

/** What a screen has to show. */
interface ScreenWish {
  /** A text within one line. */
  readonly text?: LinePattern | undefined;
  /** Time without a change, in milliseconds, from the beginning of the wait at the earliest. */
  readonly stableMs?: number | undefined;
}

/** Until the screen of a command shows a text, or has been still for a time. */
class ScreenCondition implements Condition {
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

/** Lets one loop sleep until an event, or for a time. An event between two sleeps is not lost. */
class Wake implements Disposable {
  #hasCome = false;
  #resolve: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** Ends the sleep, or the next one. */
  readonly now = (): void => {
    this.#hasCome = true;
    this.#resolve?.();
  };

  /** Forgets earlier events: the caller looks now. */
  reset(): void {
    this.#hasCome = false;
  }

  /** Sleeps for a time in milliseconds, or until an event. */
  async sleep(ms: number): Promise<void> {
    if (this.#hasCome || ms <= 0) return;
    await new Promise<void>((resolve) => {
      this.#resolve = resolve;
      this.#timer = setTimeout(resolve, ms);
    });
    this[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#resolve = undefined;
  }
}

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

/** Waits for ports, files, outputs, screens and ends of commands on behalf of clients. */
export class Waiting {
  readonly #sessions: SessionRegistry;
  readonly #commands: CommandRegistry;
  readonly #screens: Screens;
  readonly #files: Files;
  readonly #ports: Ports;
  readonly #connections: Connections;
  readonly #isClosing: () => boolean;
  /** Number of waiting requests by principal id. */
  readonly #waiting = new Map<string, number>();

  constructor(
    sessions: SessionRegistry,
    commands: CommandRegistry,
    screens: Screens,
    files: Files,
    ports: Ports,
    connections: Connections,
    isClosing: () => boolean,
  ) {
    this.#sessions = sessions;
    this.#commands = commands;
    this.#screens = screens;
    this.#files = files;
    this.#ports = ports;
    this.#connections = connections;
    this.#isClosing = isClosing;
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
      if (this.#isClosing()) throw new AdapterError('SHUTTING_DOWN', 'the daemon is being stopped');
      // A flood of events is looked at for half of the time at most.
      await pause(Math.min(now - begin, MAX_PAUSE_MS, deadline - now));
      const nextLookMs = Math.min(...conditions.map((each) => each.nextLookMs));
      await wake.sleep(Math.min(nextLookMs, deadline - performance.now(), MAX_SLEEP_MS));
    }
  }

  async *#conditionsOf(request: Wish, caller: Caller, wake: () => void): AsyncGenerator<Condition> {
    const { port, path, session_id, screen_text: text, screen_stable_ms: stableMs } = request;
    const { principal } = caller;
    if (port !== undefined) {
      const listens = () =>
        session_id === undefined
          ? this.#ports.listensHere(port)
          : this.#ports.listensIn(this.#sessions.get(session_id, principal, 'see'), port);
      yield portCondition(listens, this.#ports.lookMs);
    }
    const hasScreen = text !== undefined || stableMs !== undefined;
    if (hasScreen) {
      const wish = { text: text === undefined ? undefined : { pattern: text, regex: request.regex }, stableMs };
      yield new ScreenCondition(this.#screens.follow(request, principal), wish, wake);
    }
    // The condition of the screen reports the end of its command itself.
    if (!hasScreen || request.pattern !== undefined) yield* this.#commandCondition(request, principal, wake);
    // Whether a path exists is told only to clients that may ask for it.
    if (path !== undefined) yield new PathCondition(await this.#files.existence({ path, session_id }, caller), wake);
  }

  *#commandCondition(request: Wish, principal: Principal, wake: () => void): Generator<Condition> {
    const { command_id: id, pattern, regex, stream = 'stdout', from_offset: offset = 0 } = request;
    if (id === undefined) return;
    const { command } = this.#commands.get(id, principal, 'see');
    const output = command[stream];
    const watch = pattern === undefined ? undefined : new PatternWatch(output, { pattern, regex }, offset);
    yield new CommandCondition(command, watch, output, wake);
  }

  /** A client of which nothing is left waits for nothing. */
  #goneCheck({ sink }: Caller): () => boolean {
    const isThere = () => this.#connections.all().some((each) => each.sink === sink);
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
