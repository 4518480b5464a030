import { statfs } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';

import { readSmallFile } from '../system/small-file.js';
import { cpuMsOf, cpusOf, findOwnGroups, memoryOf, type OwnGroups } from './own-group.js';
import { type MemoryBytes, parseCpuTicks, parseLoad, parseMemory, parseNetBytes } from './proc-texts.js';

/** What the machine has done and uses at one moment. Of a container with limits, CPU and memory are its own. */
export interface HostReading {
  readonly at: Date;
  /** On the monotonic clock, in milliseconds. */
  readonly ticks: number;
  /** CPU time used so far and CPU time that could have been used, in one unit; both only grow. */
  readonly cpu: { readonly busy: number; readonly total: number } | undefined;
  /** CPUs that may be used at a time; may be a fraction. */
  readonly cpus: number;
  readonly load1: number;
  readonly memory: MemoryBytes;
  /** File system of the workspace, in bytes; undefined when it is not known. */
  readonly disk: { readonly total: number; readonly used: number } | undefined;
  readonly net: { readonly received: number; readonly sent: number };
}

/** Reads the use of the machine from /proc and control groups: about 0.3 ms of CPU time for each reading. */
export class HostReader {
  readonly #workspace: string;
  readonly #groups: OwnGroups;
  #disk: HostReading['disk'];
  #isReadingDisk = false;

  /** @param workspace directory on the disk that is reported */
  constructor(workspace: string) {
    this.#workspace = workspace;
    this.#groups = findOwnGroups(totalmem());
  }

  /** Takes a reading. The disk is read in the background: the value is that of the reading before. */
  read(): HostReading {
    void this.readDisk();
    const { memory: memoryGroup, cpu: cpuGroup } = this.#groups;
    const ticks = performance.now();
    const limited = cpuGroup === undefined ? undefined : cpusOf(cpuGroup);
    return {
      at: new Date(),
      ticks,
      cpu:
        cpuGroup === undefined || limited === undefined
          ? parseCpuTicks(readSmallFile('/proc/stat') ?? '')
          : { busy: cpuMsOf(cpuGroup), total: ticks * limited },
      cpus: limited ?? availableParallelism(),
      load1: parseLoad(readSmallFile('/proc/loadavg') ?? ''),
      memory: (memoryGroup && memoryOf(memoryGroup)) ?? machineMemory(),
      disk: this.#disk,
      net: parseNetBytes(readSmallFile('/proc/net/dev') ?? ''),
    };
  }

  /** Reads the disk; never rejects. A file system that does not answer delays no reading, and is asked once. */
  async readDisk(): Promise<void> {
    if (this.#isReadingDisk) return;
    this.#isReadingDisk = true;
    try {
      const { blocks, bfree, bsize } = await statfs(this.#workspace);
      this.#disk = { total: blocks * bsize, used: (blocks - bfree) * bsize };
    } catch {
      // The workspace has been removed.
      this.#disk = undefined;
    } finally {
      this.#isReadingDisk = false;
    }
  }
}

const machineMemory = (): MemoryBytes =>
  parseMemory(readSmallFile('/proc/meminfo') ?? '') ?? { total: totalmem(), used: 0 };
