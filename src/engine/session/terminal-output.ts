import type { OutputStream } from '../output/output-stream.js';
import { TerminalFence } from '../shell/terminal-fence.js';

/** Longest wait for the closing fence of a terminal whose program has already ended, in milliseconds. */
const FENCE_MS = 500;

/** The output of a command on the session's terminal: what comes between the two fences that the driver prints. */
export class TerminalOutput {
  readonly #fence: TerminalFence;
  readonly #stdout: OutputStream;
  #onClosed: (() => void) | undefined;

  constructor(nonce: string, stdout: OutputStream) {
    this.#fence = new TerminalFence(nonce);
    this.#stdout = stdout;
  }

  /** Takes what the terminal has received; returns the output of the command in it. */
  push(chunk: Buffer): Buffer {
    const data = this.#fence.push(chunk);
    if (data.length > 0) this.#stdout.write(data);
    if (this.#fence.isClosed) this.#onClosed?.();
    return data;
  }

  /**
   * Waits for the closing fence, which arrives on another channel than the report. Undefined when there is nothing to
   * wait for: the fence is closed, or the shell that would print it has exited.
   */
  end(how: 'reported' | 'exited'): Promise<void> | undefined {
    if (this.#fence.isClosed) return undefined;
    if (how === 'exited') {
      this.#stdout.write(this.#fence.flush());
      return undefined;
    }
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#stdout.write(this.#fence.flush());
        resolve();
      };
      const timer = setTimeout(done, FENCE_MS);
      this.#onClosed = done;
    });
  }
}
