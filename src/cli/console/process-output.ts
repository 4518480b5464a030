import { closeSync, openSync } from 'node:fs';
import { isatty, type WriteStream } from 'node:tty';

import type { Output } from './context.js';

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
