import { statSync } from 'node:fs';

/** Whether a path is a directory, or leads to one. */
export function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    // ENOENT: it has been removed. EACCES: it cannot be reached.
    return false;
  }
}
