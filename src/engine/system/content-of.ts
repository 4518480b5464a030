import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';

import { readRegularFile } from './regular-file.js';

/** Largest file whose content is compared, in bytes; of a larger one, size and time of change are. */
const MAX_BYTES = 1024 * 1024;

/** Identifies the content of a regular file; empty for one that cannot be read, and for a pipe, which would block. */
export function contentOf(path: string): string {
  try {
    const { size, mtimeMs } = statSync(path);
    if (size > MAX_BYTES) return `${size} ${mtimeMs}`;
    const content = readRegularFile(path, MAX_BYTES);
    return content ? createHash('sha256').update(content).digest('hex') : '';
  } catch {
    // ENOENT, EACCES: there is nothing to compare.
    return '';
  }
}
