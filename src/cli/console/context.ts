/**
 * What a subcommand has of the process it runs in. `main.ts` makes it: nothing else of the command line touches signals
 * or the exit code.
 */
export interface Context {
  /** How this program was called, for lines to try: `shell-adapter`, or `node dist/main.js`. */
  readonly programName: string;
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  /** The current directory, absolute. */
  readonly cwd: string;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Sets the exit code; 0 unless called. */
  exitWith(code: number): void;
  /** Ends the process at once. */
  exitNow(code: number): never;
  /** Calls the listener on these signals, which then do nothing else, until it is disposed. */
  onSignal(signals: readonly NodeJS.Signals[], listener: (signal: NodeJS.Signals) => void): Disposable;
  /** Calls the listener for exceptions and rejections that nobody caught, which then do not end the process. */
  onFault(listener: (error: unknown) => void): Disposable;
}

/** One of the two outputs of the process. */
export interface Output {
  /** Whether a person reads it. */
  readonly isTerminal: boolean;
  /** Whether escape sequences for colours may be written. */
  readonly isColoured: boolean;
  /** Of the terminal, in characters; undefined without one. */
  readonly size: { readonly columns: number; readonly rows: number } | undefined;
  /** Whether the reader has gone, as `head` does: what is written then goes nowhere. */
  readonly isBroken: boolean;
  /** Resolves when the reader has gone. */
  readonly broken: Promise<void>;
  /** Resolves when the reader has taken enough for more to be written. Never rejects. */
  write(data: string | Uint8Array): Promise<void>;
  /** Resolves when all has been written. Never rejects. */
  flush(): Promise<void>;
  /** Calls the listener when the terminal has another size, until it is disposed. */
  onResize(listener: () => void): Disposable;
}
