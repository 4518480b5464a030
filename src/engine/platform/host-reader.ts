import { statfs } from 'node:fs/promises';

import type { Machine, MachineReading } from './platform.js';

/** What the machine, and the disk of the workspace, are used for at one moment. */
export interface HostReading extends MachineReading {
  readonly at: Date;
  /** On the monotonic clock, in milliseconds. */
  readonly ticks: number;
  /** File system of the workspace, in bytes; undefined when it is not known. */
  readonly disk: { readonly total: number; readonly used: number } | undefined;
}

/** Reads the use of the machine, and of the disk of the workspace. */
export class HostReader {
  readonly #workspace: string;
  readonly #machine: Machine;
  #disk: HostReading['disk'];
  #isRefreshing = false;

  /** @param workspace directory on the disk that is reported */
  constructor(workspace: string, machine: Machine) {
    this.#workspace = workspace;
    this.#machine = machine;
  }

  /** Takes a reading. What takes longer, as the disk, is read in the background: the value is that of the reading before. */
  read(): HostReading {
    void this.refresh();
    return { ...this.#machine.read(), at: new Date(), ticks: performance.now(), disk: this.#disk };
  }

  /**
   * Reads what takes longer; never rejects. A file system that does not answer delays no reading, and is asked once.
   */
  async refresh(): Promise<void> {
    if (this.#isRefreshing) return;
    this.#isRefreshing = true;
    try {
      await Promise.all([this.#machine.refresh(), this.#readDisk()]);
    } catch {
      // EMFILE, for example: what was read before stays.
    } finally {
      this.#isRefreshing = false;
    }
  }

  async #readDisk(): Promise<void> {
    try {
      const { blocks, bfree, bsize } = await statfs(this.#workspace);
      this.#disk = { total: blocks * bsize, used: (blocks - bfree) * bsize };
    } catch {
      // The workspace has been removed.
      this.#disk = undefined;
    }
  }
}
