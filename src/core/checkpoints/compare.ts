import { comparePaths, type Entries, type Entry, parentOf } from './entry.js';

/** Difference of an entry between two trees. `mode_changed`: only its permissions or its owner. */
export type ChangeStatus = 'added' | 'modified' | 'deleted' | 'type_changed' | 'mode_changed';

/** An entry that differs between two trees. */
export interface Change {
  readonly path: string;
  readonly status: ChangeStatus;
  readonly before: Entry | undefined;
  readonly after: Entry | undefined;
}

/** Criteria for a difference. */
export interface CompareOptions {
  /** Whether owners are compared: only root can set them. */
  readonly owners: boolean;
}

/** The differences between two trees, in path order. */
export function compareEntries(before: Entries, after: Entries, options: CompareOptions): Change[] {
  const changes: Change[] = [];
  for (const [path, entry] of before) {
    const other = after.get(path);
    const status = other ? differenceOf(entry, other, options) : 'deleted';
    if (status) changes.push({ path, status, before: entry, after: other });
  }
  for (const [path, entry] of after) {
    if (!before.has(path)) changes.push({ path, status: 'added', before: undefined, after: entry });
  }
  return changes.sort((a, b) => comparePaths(a.path, b.path));
}

function differenceOf(before: Entry, after: Entry, { owners }: CompareOptions): ChangeStatus | undefined {
  if (before.kind !== after.kind) return 'type_changed';
  if (before.object !== after.object) return 'modified';
  const isSame = before.mode === after.mode && (!owners || (before.uid === after.uid && before.gid === after.gid));
  return isSame ? undefined : 'mode_changed';
}

/**
 * The changes to report: a directory that was added or deleted together with its content is reported by its content.
 */
export function notableChanges(changes: readonly Change[], before: Entries, after: Entries): Change[] {
  const nonEmpty = new Set([...parentsIn(before), ...parentsIn(after)]);
  return changes.filter(({ path, status, before: old, after: now }) => {
    const isOnlyDirectory = (now ?? old)?.kind === 'directory' && (status === 'added' || status === 'deleted');
    return !isOnlyDirectory || !nonEmpty.has(path);
  });
}

function* parentsIn(entries: Entries): Generator<string> {
  for (const path of entries.keys()) yield parentOf(path);
}
