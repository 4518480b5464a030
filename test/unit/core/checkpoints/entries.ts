import type { Entries, Entry, SkipReason } from '../../../../src/core/checkpoints.js';
import type { SavedTree } from '../../../../src/core/restore.js';

/** A tree as a text for each entry: `dir/`, `file=content`, `link->target`; `!mode` or `?reason` may follow. */
export function tree(...lines: readonly string[]): SavedTree {
  const entries: Entry[] = [];
  const skipped: { readonly path: string; readonly reason: SkipReason }[] = [];
  for (const line of lines) {
    const [, path = '', rest = '', mode = '', reason] =
      /^(.+?)(\/$|\/(?=[!?])|=.*?|->.*?)?(?:!(\d+))?(?:\?(\w+))?$/.exec(line) ?? [];
    if (reason !== undefined) skipped.push({ path, reason: reason as SkipReason });
    else entries.push(entryOf(path, rest, mode));
  }
  return { entries: new Map(entries.map((entry) => [entry.path, entry])), skipped };
}

/** Only the entries of a tree. */
export const entries = (...lines: readonly string[]): Entries => tree(...lines).entries;

function entryOf(path: string, rest: string, mode: string): Entry {
  const kind = rest === '/' ? 'directory' : rest.startsWith('->') ? 'link' : 'file';
  const usual = kind === 'directory' ? 0o755 : kind === 'link' ? 0o777 : 0o644;
  const object = kind === 'directory' ? '' : `${kind} ${rest.slice(kind === 'link' ? 2 : 1)}`;
  return { path, kind, object, mode: mode === '' ? usual : Number.parseInt(mode, 8), uid: 0, gid: 0 };
}
