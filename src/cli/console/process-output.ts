import type { WriteStream } from 'node:tty';

import type { Output } from './context.js';

/**
 * An output of this process. Any write error is treated as a closed pipe: an error message could not be delivered
 * either.
 */
export class ProcessOutput implements Output {
  readonly isTerminal: boolean;
  readonly isColoured: boolean;
  readonly broken: Promise<void>;
  readonly #stream: WriteStream;
  #isBroken = false;

  constructor(stream: WriteStream, env: NodeJS.ProcessEnv) {
    this.#stream = stream;
    this.isTerminal = stream.isTTY;
    // https://no-color.org: any non-empty value.
    this.isColoured = this.isTerminal && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
    this.broken = new Promise((resolve) => {
      stream.on('error', () => {
        this.#isBroken = true;
        resolve();
      });
    });
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  get size(): { readonly columns: number; readonly rows: number } | undefined {
    const { columns, rows } = this.#stream;
    return this.isTerminal && columns > 0 && rows > 0 ? { columns, rows } : undefined;
  }

  async write(data: string | Uint8Array): Promise<void> {
    if (this.#isBroken || data.length === 0 || this.#stream.write(data)) return;
    await Promise.race([this.broken, new Promise((resolve) => this.#stream.once('drain', resolve))]);
  }

  async flush(): Promise<void> {
    if (this.#isBroken || this.#stream.writableLength === 0) return;
    await Promise.race([this.broken, new Promise((resolve) => this.#stream.write('', resolve))]);
  }

  onResize(listener: () => void): Disposable {
    this.#stream.on('resize', listener);
    return { [Symbol.dispose]: () => void this.#stream.off('resize', listener) };
  }
}
