import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';

/** Largest file whose content is compared, in bytes; of a larger one, size and time of change are. */
const MAX_BYTES = 1024 * 1024;

/** Identifies the content of a regular file; empty for one that cannot be read, and for a pipe, which would block. */
export function contentOf(path: string): string {
  try {
    const found = statSync(path);
    const { size, mtimeMs } = found;
    if (!found.isFile()) return '';
    if (size > MAX_BYTES) return `${size} ${mtimeMs}`;
    return createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch {
    // ENOENT, EISDIR, EACCES: there is nothing to compare.
    return '';
  }
}
