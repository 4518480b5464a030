import type { Platform } from '../platform/contract/platform.js';

/** Tells whether a shell still runs its driver, as opposed to a program that has replaced it. */
export class DriverPresence {
  readonly #platform: Platform;
  /** What the shell shows with its driver; only where open files are not known. */
  #programAtStart: string | undefined;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** Notes what the shell looks like with its driver; undefined where there is nothing to note. */
  note(pid: number): Promise<void> | undefined {
    const { can, processes } = this.#platform;
    if (can.openFiles) return undefined;
    processes.followProgram(pid);
    const ask = () => {
      this.#programAtStart = processes.programOf(pid);
    };
    // What was listed before the shell was executed shows another program.
    return processes.askAside?.(ask);
  }

  /**
   * Whether the driver is there.
   * @param paths of the driver's FIFOs, of which it always holds one
   */
  isIn(pid: number, paths: readonly string[]): boolean {
    const { can, processes } = this.#platform;
    if (!can.openFiles) return processes.programOf(pid) === this.#programAtStart;
    return paths.some((path) => processes.holdsDescriptorOf(pid, path));
  }
}
