import { realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Resolves all links of an absolute path; for a missing file, those of its existing part. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // ENOENT, ENOTDIR, EACCES, or a dangling link.
    const parent = dirname(path);
    return parent === path ? path : join(realPathOf(parent), basename(path));
  }
}
