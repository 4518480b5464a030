import { spawnSync } from 'node:child_process';

import type { Context } from '../console/context.js';
import { KeySender } from './key-sender.js';
import { RawLine } from './raw-line.js';
import { messageFor } from '../console/failure.js';
import { onOneLine, paint } from '../console/style.js';

/** Ctrl-], as in telnet: no common program uses it today. It detaches from a command that hangs. */
const LEAVE_KEY = '\x1d';
const INTERRUPT_KEY = '\x03';

/** Longest note about undelivered input, in characters. */
const MAX_NOTE = 300;

/** The other end of a terminal connection. */
export interface TerminalPeer {
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
  readonly #context: Pick<Context, 'stdin' | 'stdout' | 'stderr'>;
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

  constructor(context: Pick<Context, 'stdin' | 'stdout' | 'stderr'>, peer: TerminalPeer) {
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
