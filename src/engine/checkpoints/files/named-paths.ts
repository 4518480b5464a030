import { type BytePath, type Entries } from '../../../core/checkpoints/entry.js';
import { AdapterError } from '../../../core/errors.js';
import { toText } from '../git/byte-path.js';

/** Replaces bytes that are not UTF-8. */
const REPLACEMENT = '\uFFFD';

/**
 * Resolves the paths of a request. Clients see bytes that are not UTF-8 as U+FFFD: such a path matches all entries with
 * the same text.
 * @throws AdapterError INVALID_REQUEST for a path that is neither in the checkpoint nor in the workspace
 */
export function namedPaths(paths: readonly BytePath[], target: Entries, current: Entries): BytePath[] {
  return paths.flatMap((path) => {
    if (path === '' || target.has(path) || current.has(path)) return [path];
    const text = toText(path);
    const alike = text.includes(REPLACEMENT)
      ? [...new Set([...target.keys(), ...current.keys()])].filter((other) => toText(other) === text)
      : [];
    if (alike.length > 0) return alike;
    const message = `paths: ${text} is neither in the checkpoint nor in the workspace`;
    throw new AdapterError('INVALID_REQUEST', message, { details: { field: 'paths', path: text } });
  });
}
