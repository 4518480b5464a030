import { spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Context } from '../console/context.js';
import { messageFor } from '../console/failure.js';
import { onOneLine, paint } from '../console/style.js';

/** Time-out for the delivery of the last keys, in milliseconds. */
const LAST_KEYS_MS = 500;

/** Most characters per request: well below any message limit, also as UTF-8. */
const MAX_KEYS = 16_384;

/** Delivery of keys to a command. */
interface KeyDelivery {
  /** Delivers keys. Rejects when they could not be delivered. */
  readonly send: (keys: string) => Promise<void>;
  /** Called for each failure to deliver keys. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Delivers keys in the order of typing, one request at a time. Keys typed in the meantime are queued and sent together.
 */
class KeySender {
  readonly #delivery: KeyDelivery;
  #waiting = '';
  #sending: Promise<void> | undefined;
  #isHeld = false;
  #hasEnded = false;
  #isClosed = false;

  constructor(delivery: KeyDelivery) {
    this.#delivery = delivery;
  }

  /** Whether sent keys are not yet acknowledged. */
  get isSending(): boolean {
    return this.#sending !== undefined;
  }

  /** Queues typed keys for delivery, after those typed before. */
  push(keys: string): void {
    this.#waiting += keys;
    this.#pump();
  }

  /** Pauses or resumes the delivery. */
  hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#pump();
  }

  /** Stops sending. Returns the number of characters that were typed and not sent. */
  async end(): Promise<number> {
    this.#hasEnded = true;
    // Input that waits for a confirmation may stay unanswered for a minute.
    if (this.#sending) await Promise.race([this.#sending, sleep(LAST_KEYS_MS, undefined, { ref: false })]);
    this.#isClosed = true;
    return this.#waiting.length;
  }

  #pump(): void {
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting !== '' && !this.#isHeld && !this.#hasEnded) {
      const keys = firstOf(this.#waiting);
      this.#waiting = this.#waiting.slice(keys.length);
      try {
        await this.#delivery.send(keys);
      } catch (error) {
        if (!this.#isClosed) this.#delivery.onFailure(error);
      }
    }
  }
}

/** The part of a text that fits into one request, without splitting a character. */
function firstOf(text: string): string {
  if (text.length <= MAX_KEYS) return text;
  const last = text.charCodeAt(MAX_KEYS - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHalf ? MAX_KEYS - 1 : MAX_KEYS);
}

/** Ctrl-C, Ctrl-D and Escape: no answer. */
// oxlint-disable-next-line no-control-regex -- control characters are keys
const DECLINES = /[\x03\x04\x1b]/;
const ENTER = /[\r\n]/;
const ERASES = new Set(['\x7f', '\b']);

/** Reads one line from a terminal in raw mode, which neither edits nor echoes. */
export class RawLine {
  /** Resolves with the line; empty when it was declined. */
  readonly done: Promise<string>;
  readonly #echo: (text: string) => void;
  #finish!: (line: string) => void;
  #isDone = false;
  #line: string[] = [];

  constructor(echo: (text: string) => void) {
    this.#echo = echo;
    this.done = new Promise((resolve) => (this.#finish = resolve));
  }

  /**
   * Processes typed keys: Enter ends the line, an erase key removes the last character.
   * @returns the keys after its end, which belong to what comes next
   */
  take(keys: string): string {
    let taken = 0;
    for (const key of keys) {
      if (this.#isDone) break;
      taken += key.length;
      this.#takeKey(key);
    }
    return keys.slice(taken);
  }

  #takeKey(key: string): void {
    if (DECLINES.test(key) || ENTER.test(key)) {
      this.#isDone = true;
      this.#finish(ENTER.test(key) ? this.#line.join('') : '');
    } else if (ERASES.has(key)) {
      if (this.#line.pop() !== undefined) this.#echo('\b \b');
    } else if (key >= ' ') {
      this.#line.push(key);
      this.#echo(key);
    }
  }
}

/** Ctrl-], as in telnet: no common program uses it today. It detaches from a command that hangs. */
const LEAVE_KEY = '\x1d';
const INTERRUPT_KEY = '\x03';

/** Longest note about undelivered input, in characters. */
const MAX_NOTE = 300;

/** The other end of a terminal connection. */
interface TerminalPeer {
  /** Types keys. Rejects when they could not be delivered. */
  send(keys: string): Promise<void>;
  /** Sets the terminal size. */
  resize(columns: number, rows: number): Promise<unknown>;
}

/**
 * Node's raw mode still converts `\n` to `\r\n`, which the command's own terminal has already done or was configured
 * not to do. Leaving raw mode reverts this setting too.
 */
function passOutputAsItIs(): void {
  // Without stty(1) each line ends with a superfluous carriage return.
  spawnSync('stty', ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] });
}

/**
 * The terminal of this program in raw mode, connected to a command: every key is sent to the command, and the terminal
 * size to its session, until it is disposed. Undeliverable keys are reported on the terminal.
 */
export class ConnectedTerminal implements AsyncDisposable {
  /** Resolves when the person at the terminal has pressed Ctrl-]. */
  readonly closed: Promise<void>;
  readonly #context: Context;
  readonly #peer: TerminalPeer;
  readonly #sender: KeySender;
  readonly #resizing: Disposable;
  #resolveClosed!: () => void;
  #question: RawLine | undefined;
  /** Resolves when the shown question is answered; undefined while no question is shown. */
  #answered: Promise<unknown> | undefined;
  #onInterrupt: (() => void) | undefined;
  /** The last note about a failure: it is not repeated for every key. */
  #lastFailure: string | undefined;

  constructor(context: Context, peer: TerminalPeer) {
    this.#context = context;
    this.#peer = peer;
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
    this.#sender = new KeySender({
      send: async (keys) => {
        await peer.send(keys);
        this.#lastFailure = undefined;
      },
      onFailure: (error) => {
        const message = messageFor(error);
        // The cursor may be in the middle of a line.
        if (message !== this.#lastFailure) this.note(`not sent: ${message}`, '\r\n');
        this.#lastFailure = message;
      },
    });
    const { stdin, stdout } = context;
    stdin.setRawMode(true);
    passOutputAsItIs();
    stdin.setEncoding('utf8');
    stdin.on('data', this.#onKeys);
    stdin.resume();
    this.#resizing = stdout.onResize(this.#resize);
    this.#resize();
  }

  /** Whether sent keys are not yet acknowledged. */
  get isSending(): boolean {
    return this.#sender.isSending;
  }

  /** Resolves when no question is shown: output of the command would overwrite it. */
  async whenFree(): Promise<void> {
    while (this.#answered) await this.#answered;
  }

  /** Prints a line of this program between the output of the command. */
  note(text: string, before = ''): void {
    const { stderr } = this.#context;
    void stderr.write(`${before}${paint(stderr, 'dim', `shell-adapter: ${onOneLine(text, MAX_NOTE)}`)}\r\n`);
  }

  /**
   * Asks the person at the terminal; keys typed before the question are not an answer. Returns the line; empty for
   * Ctrl-C.
   * @param ended resolves when the question is obsolete; the result is then undefined
   */
  async ask(lines: readonly string[], ended: Promise<unknown>): Promise<string | undefined> {
    const answer = this.#ask(lines, ended);
    this.#answered = answer;
    try {
      return await answer;
    } finally {
      this.#answered = undefined;
      this.#redraw();
    }
  }

  async #ask(lines: readonly string[], ended: Promise<unknown>): Promise<string | undefined> {
    const { stderr } = this.#context;
    const question = new RawLine((text) => void stderr.write(text));
    this.#question = question;
    await stderr.write(`\r\n${lines.join('\r\n')} `);
    const line = await Promise.race([question.done, ended.then(() => undefined)]);
    await stderr.write('\r\n');
    this.#question = undefined;
    return line;
  }

  /** Holds keys back until it is disposed; Ctrl-C calls the listener. */
  hold(onInterrupt: () => void): Disposable {
    this.#onInterrupt = onInterrupt;
    this.#sender.hold(true);
    return {
      [Symbol.dispose]: () => {
        this.#onInterrupt = undefined;
        this.#sender.hold(false);
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { stdin } = this.#context;
    stdin.off('data', this.#onKeys);
    stdin.pause();
    this.#resizing[Symbol.dispose]();
    const unsent = await this.#sender.end();
    if (unsent > 0) this.note(`${unsent} characters were typed too late or too early, and were not sent`, '\r\n');
    stdin.setRawMode(false);
  }

  readonly #onKeys = (keys: string): void => {
    const leaving = keys.indexOf(LEAVE_KEY);
    const all = leaving === -1 ? keys : keys.slice(0, leaving);
    // What is typed after an answer is for the command.
    const typed = this.#question ? this.#question.take(all) : all;
    if (this.#onInterrupt && typed.includes(INTERRUPT_KEY)) this.#onInterrupt();
    else if (typed !== '') this.#sender.push(typed);
    if (leaving === -1) return;
    this.#question?.take(INTERRUPT_KEY);
    this.#resolveClosed();
  };

  readonly #resize = (): void => {
    const { columns, rows } = this.#context.stdout.size ?? {};
    // The command may have ended: then its size does not matter.
    if (columns !== undefined && rows !== undefined) this.#peer.resize(columns, rows).catch(() => undefined);
  };

  /** Full-screen programs redraw their screen when its size changes. */
  #redraw(): void {
    const { columns, rows = 0 } = this.#context.stdout.size ?? {};
    if (columns === undefined || rows < 2) return;
    this.#peer.resize(columns, rows - 1).then(this.#resize, () => undefined);
  }
}
