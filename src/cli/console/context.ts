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
  /** Exits immediately. */
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
  /** Whether it is a terminal. */
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
    { url, config }: { readonly url?: string; readonly config?: string },
  ): CommandLine =>
  (words) => {
    const flags = [
      ...(url === undefined ? [] : [`--url ${quoteWord(url)}`]),
      ...(config === undefined ? [] : [`--config ${quoteWord(config)}`]),
    ];
    return [programName, words, ...flags].join(' ');
  };

/** Runs until a signal arrives or the reader of the output has closed the pipe; errors after that do not count. */
export async function untilStopped(context: Context, run: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  const signals = context.onSignal(['SIGINT', 'SIGTERM', 'SIGHUP'], () => {
    stop.abort();
  });
  void context.stdout.broken.then(() => {
    stop.abort();
  });
  try {
    await run(stop.signal);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    signals[Symbol.dispose]();
  }
}
