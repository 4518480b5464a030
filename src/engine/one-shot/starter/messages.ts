/** Request to start a process. One JSON line each. */
export interface StartMessage {
  readonly id: number;
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Paths for descriptors 0 to 2, and 3 if there is one. Null is /dev/null. */
  readonly stdin: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly request: string | null;
  /**
   * Files through which the process enters its control groups, and those through which the starter returns to its own.
   */
  readonly joinFiles: readonly string[];
  readonly leaveFiles: readonly string[];
}

/** Report of the starter about a process: it runs, it has ended, or it could not be started. */
export type StarterReport =
  | { readonly id: number; readonly kind: 'started'; readonly pid: number }
  | { readonly id: number; readonly kind: 'exited'; readonly exitCode: number }
  | { readonly id: number; readonly kind: 'signalled'; readonly signal: NodeJS.Signals }
  | { readonly id: number; readonly kind: 'failed'; readonly code: string; readonly message: string };

/** Splits a stream into lines; an incomplete line is kept for the next chunk. */
export class LineReader {
  #rest = '';
  readonly #onLine: (line: string) => void;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  /** Processes a chunk; calls `onLine` with each line that it completes, without the line feed. */
  push(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#onLine(line);
  }
}
