import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import type { PolicyVerdict } from '../../core/policy/decision/policy.js';
import { changedPlace } from './failures.js';

/** Most paths that are compared. */
const MAX_PATHS = 256;
/** Largest script whose content is compared, in bytes; of a larger one, size and time of change are. */
const MAX_SCRIPT_BYTES = 1024 * 1024;

/**
 * What the paths of a command mean when its confirmation is requested: the approval is for these files. A link that leads
 * elsewhere by then, or a script with other content, is another command.
 */
export class Surroundings {
  readonly #places: ReadonlyMap<string, string>;
  readonly #scripts: ReadonlyMap<string, string>;

  constructor({ paths, scripts }: Pick<PolicyVerdict, 'paths' | 'scripts'>) {
    this.#places = new Map(paths.slice(0, MAX_PATHS).map((path) => [path, realPlace(path)]));
    this.#scripts = new Map(scripts.slice(0, MAX_PATHS).map((path) => [path, contentOf(path)]));
  }

  /** @throws AdapterError CONFIRMATION_MISMATCH when a path leads elsewhere now, or a script has changed */
  assertUnchanged(): void {
    for (const [path, place] of this.#places) {
      const now = realPlace(path);
      if (now !== place) throw changedPlace(`${path} led to ${place} and leads to ${now} now`);
    }
    for (const [path, content] of this.#scripts) {
      if (contentOf(path) !== content) throw changedPlace(`the script ${path} has changed`);
    }
  }
}

/** The path without links; of one that does not exist, that of the directory in which it would be. */
function realPlace(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // ENOENT, ENOTDIR, EACCES: what is above it can be compared.
    return path === '/' ? path : join(realPlace(dirname(path)), basename(path));
  }
}

/** Identifies the content of a file; empty for one that cannot be read. */
function contentOf(path: string): string {
  try {
    const { size, mtimeMs } = statSync(path);
    if (size > MAX_SCRIPT_BYTES) return `${size} ${mtimeMs}`;
    return createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch {
    // ENOENT, EISDIR, EACCES: there is nothing to compare.
    return '';
  }
}
