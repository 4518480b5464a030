import { proportionalBytes, type ProcessEntry, readProcess } from '../process/process-table.js';

/** Bytes of a page of memory: 4 KiB on every machine that Node.js runs on but some of arm64. */
export const PAGE_BYTES = 4096;

/** Memory of processes, shared pages counted each time: a quick upper bound. */
export const residentBytes = (entries: readonly ProcessEntry[]): number =>
  entries.reduce((sum, entry) => sum + entry.residentPages, 0) * PAGE_BYTES;

/** The same for process ids. */
export const residentBytesOf = (pids: readonly number[]): number =>
  residentBytes(pids.flatMap((pid) => readProcess(pid) ?? []));

/** Memory of processes, what they share with each other counted once. Twice the time of a look without it. */
export const heldBytesOf = (entries: readonly ProcessEntry[]): number =>
  entries.reduce((sum, entry) => sum + (proportionalBytes(entry.pid) ?? entry.residentPages * PAGE_BYTES), 0);
