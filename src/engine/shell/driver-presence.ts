import type { Platform } from '../platform/contract/platform.js';

/** Tells whether a shell still runs its driver, as opposed to a program that has replaced it. */
export class DriverPresence {
  readonly #platform: Platform;
  /** Command line with the driver; only where open files are not known. */
  #lineAtStart: string | undefined;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** Notes what the shell looks like with its driver. */
  note(pid: number): void {
    const { can, processes } = this.#platform;
    if (can.openFiles) return;
    // What was read before the shell was executed shows another command line.
    processes.readNow(pid);
    this.#lineAtStart = this.#lineOf(pid);
  }

  /**
   * Whether the driver is there.
   * @param paths of the driver's FIFOs, of which it always holds one
   */
  isIn(pid: number, paths: readonly string[]): boolean {
    const { can, processes } = this.#platform;
    if (!can.openFiles) return this.#lineOf(pid) === this.#lineAtStart;
    return paths.some((path) => processes.holdsDescriptorOf(pid, path));
  }

  #lineOf(pid: number): string {
    return this.#platform.processes.commandLine({ pid, name: '' });
  }
}
