import { closeSync, openSync } from 'node:fs';
import { isatty, type WriteStream } from 'node:tty';

/**
 * Process environment of a subcommand. Created by `main.ts`: no other part of the command line touches signals or the
 * exit code.
 */
export interface Context {
  /** How this program was called, for example commands: `shell-adapter`, or `node dist/main.js`. */
  readonly programName: string;
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  /** Current directory, absolute. */
  readonly cwd: string;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: Output;
  readonly stderr: Output;
  /**
   * Sets the exit code.
   * @default 0
   */
  exitWith(code: number): void;
  exitNow(code: number): never;
  /** Prints a line on standard error, unless it has been printed. */
  warnOnce(line: string): void;
  /** Installs a listener for these signals, which replaces their default action until it is disposed. */
  onSignal(signals: readonly NodeJS.Signals[], listener: (signal: NodeJS.Signals) => void): Disposable;
  /** Installs a listener for uncaught exceptions and unhandled rejections, which then do not end the process. */
  onFault(listener: (error: unknown) => void): Disposable;
}

/** Standard output or standard error of the process. */
export interface Output {
  readonly isTerminal: boolean;
  /** Whether colour escape sequences are allowed. */
  readonly isColoured: boolean;
  /** Size of the terminal, in characters; undefined without one. */
  readonly size: { readonly columns: number; readonly rows: number } | undefined;
  /** Whether the reader has closed the pipe, as `head` does: further writes are discarded. */
  readonly isBroken: boolean;
  /** Resolves when the reader has closed the pipe. */
  readonly broken: Promise<void>;
  /** Resolves when more may be written (backpressure). Never rejects. */
  write(data: string | Uint8Array): Promise<void>;
  /** Resolves when everything has been written. Never rejects. */
  flush(): Promise<void>;
  /** Calls the listener when the size of the terminal changes, until it is disposed. */
  onResize(listener: () => void): Disposable;
}

/** Formats a command line of this program, for messages. */
export type CommandLine = (words: string) => string;

/** Characters without a special meaning in any shell. */
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** Quotes a word for a shell command line. */
export const quoteWord = (word: string): string =>
  PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/**
 * Formats command lines of this program that reach the same daemon when they are pasted: they include the given `--url`
 * or `--config`, but never a token.
 */
export const commandLineFor =
  (
    { programName }: Pick<Context, 'programName'>,
    { url, config }: { readonly url?: string | undefined; readonly config?: string | undefined },
  ): CommandLine =>
  (words) => {
    const flags = [
      ...(url === undefined ? [] : [`--url ${quoteWord(url)}`]),
      ...(config === undefined ? [] : [`--config ${quoteWord(config)}`]),
    ];
    return [programName, words, ...flags].join(' ');
  };

/**
 * Runs until a signal arrives or the reader of the output has closed the pipe; errors after that do not count.
 * @param run gets a signal that is aborted then, and a promise that resolves then
 */
export async function untilStopped(
  context: Context,
  run: (signal: AbortSignal, stopped: Promise<void>) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const stopped = new Promise<void>((resolve) => {
    stop.signal.addEventListener('abort', () => {
      resolve();
    });
  });
  const signals = context.onSignal(['SIGINT', 'SIGTERM', 'SIGHUP'], () => {
    stop.abort();
  });
  void context.stdout.broken.then(() => {
    stop.abort();
  });
  try {
    await run(stop.signal, stopped);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    signals[Symbol.dispose]();
  }
}

const FILE_DESCRIPTORS = { stdout: 1, stderr: 2 } as const;

/**
 * An output of this process. Any write error is treated as a closed pipe: an error message could not be delivered
 * either. Node.js's stream is created when it is first used: a command without output needs none.
 */
export class ProcessOutput implements Output {
  readonly isTerminal: boolean;
  readonly isColoured: boolean;
  readonly broken: Promise<void>;
  readonly #name: keyof typeof FILE_DESCRIPTORS;
  #opened: WriteStream | undefined;
  #isBroken = false;
  #onError: () => void = () => undefined;

  constructor(name: keyof typeof FILE_DESCRIPTORS, env: NodeJS.ProcessEnv) {
    this.#name = name;
    this.isTerminal = isatty(FILE_DESCRIPTORS[name]);
    // https://no-color.org: any non-empty value.
    this.isColoured = this.isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
    this.broken = new Promise((resolve) => {
      this.#onError = () => {
        this.#isBroken = true;
        resolve();
      };
    });
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  get size(): { readonly columns: number; readonly rows: number } | undefined {
    if (!this.isTerminal) return undefined;
    const { columns, rows } = this.#stream;
    return columns > 0 && rows > 0 ? { columns, rows } : undefined;
  }

  async write(data: string | Uint8Array): Promise<void> {
    if (this.#isBroken || data.length === 0 || this.#stream.write(data)) return;
    await Promise.race([this.broken, new Promise((resolve) => this.#stream.once('drain', resolve))]);
  }

  async flush(): Promise<void> {
    const stream = this.#opened;
    if (!stream || this.#isBroken || stream.writableLength === 0) return;
    await Promise.race([this.broken, new Promise((resolve) => stream.write('', resolve))]);
  }

  onResize(listener: () => void): Disposable {
    this.#stream.on('resize', listener);
    return { [Symbol.dispose]: () => void this.#stream.off('resize', listener) };
  }

  get #stream(): WriteStream {
    this.#opened ??= process[this.#name].on('error', this.#onError);
    return this.#opened;
  }
}

/** Standard file descriptors that were terminals at the start of the program. */
const terminals = [0, 1, 2].filter((fd) => isatty(fd));

/**
 * Replaces terminals that have hung up since, for example because the user has logged out while the daemon runs:
 * Node.js restores terminal settings at exit, and crashes when that fails. Call it last.
 */
export function releaseLostTerminals(): void {
  for (const fd of terminals.filter((terminal) => !isatty(terminal))) {
    closeSync(fd);
    // Reuses the file descriptor that was just closed.
    openSync('/dev/null', 'r+');
  }
}
