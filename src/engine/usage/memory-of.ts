import type { ProcessEntry } from '../platform/contract/process-entry.js';
import type { Processes } from '../platform/contract/processes.js';

/** Page size in bytes: 4 KiB on every machine that Node.js runs on, except for some of arm64. */
export const PAGE_BYTES = 4096;

/** Memory of processes, in bytes, with shared pages counted for each of them: a quick upper bound. */
export const residentBytes = (entries: readonly ProcessEntry[]): number =>
  entries.reduce((sum, entry) => sum + entry.residentPages, 0) * PAGE_BYTES;

/** Same as `residentBytes`, for process ids. */
export const residentBytesOf = (pids: readonly number[], { read }: Processes): number =>
  residentBytes(pids.flatMap((pid) => read(pid) ?? []));

/** Memory of processes, in bytes, with shared pages counted once. Takes twice the time of `residentBytes`. */
export const heldBytesOf = (entries: readonly ProcessEntry[], { proportionalBytes }: Processes): number =>
  entries.reduce((sum, entry) => sum + (proportionalBytes(entry.pid) ?? entry.residentPages * PAGE_BYTES), 0);

/** Bytes of files in memory that are not in the memory of these processes already, because they are not mapped. */
export const unmappedBytes = (
  fileBytes: number,
  entries: readonly ProcessEntry[],
  { sharedBytes }: Processes,
): number =>
  fileBytes === 0 ? 0 : Math.max(0, fileBytes - entries.reduce((sum, { pid }) => sum + sharedBytes(pid), 0));
