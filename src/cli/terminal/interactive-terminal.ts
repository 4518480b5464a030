import { spawnSync } from 'node:child_process';

import type { Context } from '../console/context.js';
import { KeySender } from './key-sender.js';
import { RawLine } from './raw-line.js';
import { messageFor } from '../console/failure.js';
import { onOneLine, paint } from '../console/style.js';

/** Ctrl-], as telnet has it: no program of today uses it, and a command that hangs must not hold its terminal. */
const LEAVE_KEY = '\x1d';
const INTERRUPT_KEY = '\x03';

/** Longest note about input that was not delivered, in characters. */
const MAX_NOTE = 300;

/** What is at the other end of a terminal. */
export interface TerminalPeer {
  /** Types into it. Rejects when the keys could not be delivered. */
  send(keys: string): Promise<void>;
  /** Sets the size of its terminal. */
  resize(columns: number, rows: number): Promise<unknown>;
}

/**
 * Node's raw mode still makes `\r\n` of every `\n`, which the command's own terminal has done already, or has been told
 * not to do. Leaving raw mode takes this back too.
 */
function passOutputAsItIs(): void {
  // Without stty(1) there is a superfluous carriage return at the end of each line.
  spawnSync('stty', ['-opost'], { stdio: ['inherit', 'ignore', 'ignore'] });
}

/**
 * The terminal of this program in raw mode, connected to a command: every key goes to the command, and the size of the terminal
 * to its session, until it is disposed. Keys that cannot be delivered are reported on the terminal.
 */
export class ConnectedTerminal implements AsyncDisposable {
  /** Resolves when the person at the terminal has left by Ctrl-]. */
  readonly closed: Promise<void>;
  readonly #context: Pick<Context, 'stdin' | 'stdout' | 'stderr'>;
  readonly #peer: TerminalPeer;
  readonly #sender: KeySender;
  readonly #resizing: Disposable;
  #leave!: () => void;
  #question: RawLine | undefined;
  /** Resolves when the person has answered; undefined while no question is shown. */
  #answered: Promise<unknown> | undefined;
  #onInterrupt: (() => void) | undefined;
  /** The last note about a failure: the same is not shown for every key. */
  #lastFailure: string | undefined;

  constructor(context: Pick<Context, 'stdin' | 'stdout' | 'stderr'>, peer: TerminalPeer) {
    this.#context = context;
    this.#peer = peer;
    this.closed = new Promise((resolve) => (this.#leave = resolve));
    this.#sender = new KeySender({
      send: async (keys) => {
        await peer.send(keys);
        this.#lastFailure = undefined;
      },
      onFailure: (error) => {
        const message = messageFor(error);
        // The cursor may be anywhere in a line.
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

  /** Whether keys are under way whose delivery is not certain yet. */
  get isSending(): boolean {
    return this.#sender.isSending;
  }

  /** Resolves when no question is shown: output of the command would draw over it. */
  async whenFree(): Promise<void> {
    while (this.#answered) await this.#answered;
  }

  /** Shows a line of this program's own between the output of the command. */
  note(text: string, before = ''): void {
    const { stderr } = this.#context;
    void stderr.write(`${before}${paint(stderr, 'dim', `shell-adapter: ${onOneLine(text, MAX_NOTE)}`)}\r\n`);
  }

  /**
   * Asks the person at the terminal; what was typed before is no answer. Gives the line; empty for Ctrl-C.
   * @param ended resolves when the question needs no answer any more; gives undefined then
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
    const typed = leaving === -1 ? keys : keys.slice(0, leaving);
    if (this.#question) this.#question.take(typed);
    else if (this.#onInterrupt && typed.includes(INTERRUPT_KEY)) this.#onInterrupt();
    else if (typed !== '') this.#sender.push(typed);
    if (leaving === -1) return;
    this.#question?.take(INTERRUPT_KEY);
    this.#leave();
  };

  readonly #resize = (): void => {
    const { columns, rows } = this.#context.stdout.size ?? {};
    // The command may have ended: then its size is of no interest.
    if (columns !== undefined && rows !== undefined) this.#peer.resize(columns, rows).catch(() => undefined);
  };

  /** Full-screen programs draw their screen again when its size changes. */
  #redraw(): void {
    const { columns, rows = 0 } = this.#context.stdout.size ?? {};
    if (columns === undefined || rows < 2) return;
    this.#peer.resize(columns, rows - 1).then(this.#resize, () => undefined);
  }
}
