import { Deferred } from '../system/deferred.js';
import type { CommandPipes } from './pipe-pool.js';
import type { ShellProcess } from './shell-process.js';
import type { ShellReport } from './shell-reports.js';

/**
 * Longest wait for an internal request, in milliseconds: a saved state with a megabyte of variables takes some time.
 */
const TIMEOUT_MS = 5000;

/** Requests of a session itself, such as the set-up of its shell; one at a time. */
export class InternalRequests {
  #pending: { readonly nonce: string; readonly done: Deferred<ShellReport | undefined> } | undefined;

  /**
   * Runs a request; returns undefined when the shell has ended or not answered in time.
   * @param send sends it, and returns the nonce of its report
   */
  async run(shell: ShellProcess, send: (slot: CommandPipes) => string): Promise<ShellReport | undefined> {
    const slot = await shell.takeSlot();
    // Nothing reports an exit that was delivered before.
    if (shell.terminal.hasExited) return undefined;
    const done = new Deferred<ShellReport | undefined>();
    try {
      this.#pending = { nonce: send(slot), done };
    } catch (error) {
      // EMFILE, or no space for the text: the shell has got nothing.
      shell.returnSlot(slot);
      throw error;
    }
    const timer = setTimeout(this.end, TIMEOUT_MS);
    const report = await done.promise;
    clearTimeout(timer);
    const ignore = () => undefined;
    if (report && slot.out.drain(ignore) === 'free' && slot.err.drain(ignore) === 'free') shell.returnSlot(slot);
    return report;
  }

  /** Takes a report if it is about the request; returns whether it is. */
  takeReport(report: ShellReport): boolean {
    if (this.#pending?.nonce !== report.nonce) return false;
    this.#pending.done.resolve(report);
    this.#pending = undefined;
    return true;
  }

  /** Gives up the request: the shell has ended, or does not answer. */
  readonly end = (): void => {
    this.#pending?.done.resolve(undefined);
    this.#pending = undefined;
  };
}
