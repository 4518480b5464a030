import { EventEmitter, once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';

import { type IPty, spawn } from 'node-pty';

import { type Example, isAsPrinted } from './transcript.js';

/** How a shell is started for a reader. */
export interface ShellStart {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** How long a command of a page may take, in milliseconds: some install packages, and build, on a machine that is busy. */
const COMMAND_TIMEOUT_MS = 400_000;
/** Wide enough for the widest line that a page shows. */
const COLUMNS = 200;
/** The prompt of the shell: a character that no program prints. */
const PROMPT = '\u001e';
/** DECSTR, which stripVTControlCharacters() does not know. */
const SOFT_RESET = '\u001b[!p';
/** A question of a program, and the answer that the page shows behind it. */
const QUESTION = /^(.*\[y\/N\](?: \([^)]*\))?) (\S.*)$/;

/** An interactive bash on a terminal of its own, used as a reader of a page uses it. */
export class TypedShell implements AsyncDisposable {
  readonly #terminal: IPty;
  readonly #arrivals = new EventEmitter();
  readonly #ended: Promise<void>;
  #hasEnded = false;
  /** What was printed since the last key was pressed. */
  #output = '';

  private constructor({ program, args, cwd, env }: ShellStart) {
    this.#terminal = spawn(program, [...args], { cwd, env, cols: COLUMNS, rows: 50, name: 'xterm-256color' });
    this.#terminal.onData((data) => {
      this.#output += data;
      this.#arrivals.emit('change');
    });
    this.#ended = new Promise((resolve) => {
      this.#terminal.onExit(() => {
        this.#hasEnded = true;
        this.#arrivals.emit('change');
        resolve();
      });
    });
  }

  /** Opens the shell; resolves when it shows its prompt. */
  static async open(start: ShellStart): Promise<TypedShell> {
    const shell = new TypedShell(start);
    shell.#press(String.raw`PS1=$'\036' PS2= PROMPT_COMMAND=` + '\n');
    await shell.#until(() => shell.#isAtPrompt);
    return shell;
  }

  get #text(): string {
    return shownText(this.#output);
  }

  /** Changes the directory, as a page may say in words. */
  async changeDirectory(path: string): Promise<void> {
    await this.run({ command: `cd '${path}'`, expected: '', line: 0, mayKeepRunning: false });
  }

  /** The current directory. */
  async currentDirectory(): Promise<string> {
    return (await this.run({ command: 'pwd', expected: '…', line: 0, mayKeepRunning: false })).trim();
  }

  /**
   * Types a command. Resolves with what it printed: when it has ended, or, for one that may keep running, when it has
   * printed what the page says.
   */
  async run({ command, expected, mayKeepRunning }: Example): Promise<string> {
    const isKey = command === '^C';
    if (isKey === this.#isAtPrompt) throw new Error(isKey ? 'no program to interrupt' : 'a program is still running');
    this.#press(isKey ? '\u0003' : `${command}\n`);
    const echo = isKey ? '^C' : `${command}\n`;
    const printed = () => this.#text.slice(this.#text.indexOf(echo) + echo.length).replace(PROMPT, '');
    const answers = expected
      .split('\n')
      .flatMap((line) => [QUESTION.exec(line) ?? []].filter(({ length }) => length > 0));
    await this.#until(() => {
      const [[, question = '', answer = ''] = []] = answers;
      if (question !== '' && this.#text.endsWith(`${question} `)) {
        answers.shift();
        this.#terminal.write(`${answer}\n`);
      }
      return this.#isAtPrompt || (mayKeepRunning && isAsPrinted(printed(), expected));
    });
    return printed();
  }

  /** Interrupts what runs and leaves the shell. */
  async leave(): Promise<void> {
    if (!this.#isAtPrompt) await this.run({ command: '^C', expected: '…', line: 0, mayKeepRunning: false });
    this.#terminal.write('exit\n');
    await this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#hasEnded) this.#terminal.kill('SIGKILL');
    await this.#ended;
  }

  #press(keys: string): void {
    this.#output = '';
    this.#terminal.write(keys);
  }

  get #isAtPrompt(): boolean {
    return this.#output.includes(PROMPT);
  }

  async #until(isReached: () => boolean): Promise<void> {
    const signal = AbortSignal.timeout(COMMAND_TIMEOUT_MS);
    while (!isReached()) {
      if (this.#hasEnded) throw new Error(`the shell has ended: ${this.#text}`);
      try {
        await once(this.#arrivals, 'change', { signal });
      } catch (cause) {
        throw new Error(`does not end; it has printed:\n${this.#text}`, { cause });
      }
    }
  }
}

/** What a terminal shows of an output, without colours: what is written over, such as a spinner, is not there. */
function shownText(output: string): string {
  // npm moves its spinner to the first column with CSI G.
  const text = stripVTControlCharacters(output.replaceAll('\u001b[1G', '\r').replaceAll(SOFT_RESET, ''));
  const lines = text.split('\n').map((line) => line.split('\r').findLast((part) => part !== '') ?? '');
  return lines.join('\n');
}
