import { type Stats, statSync } from 'node:fs';

/** Returns what a path leads to; undefined where there is nothing that the daemon can get to. */
export function statOf(path: string): Stats | undefined {
  try {
    // A missing file is no exception: those are slow.
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // ENOTDIR: a file stands where a directory should. EACCES, ELOOP: it cannot be reached.
    return undefined;
  }
}
