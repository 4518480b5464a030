import { createHash } from 'node:crypto';

import { type BytePath, type Entry, parentOf } from '../../../core/checkpoints/entry.js';
import { AdapterError } from '../../../core/errors.js';
import { toBytes } from '../git/byte-path.js';
import type { Git } from '../git/git.js';
import type { StatCache } from '../files/stat-cache.js';

/** An entry of a git tree. */
export interface TreeItem {
  readonly name: BytePath;
  readonly mode: '100644' | '100755' | '120000' | '40000';
  readonly object: string;
}

const EXECUTABLE = 0o100;

/** Returns git's mode of an entry. */
export function gitModeOf({ kind, mode }: Pick<Entry, 'kind' | 'mode'>): TreeItem['mode'] {
  if (kind === 'directory') return '40000';
  if (kind === 'link') return '120000';
  return (mode & EXECUTABLE) === 0 ? '100644' : '100755';
}

/**
 * Writes the trees of a repository. Uses mktree, because an index accepts no empty directories and none of the names
 * that are equivalent to `.git` on some systems (`.GIT`, `git~1`).
 */
export class TreeWriter {
  readonly #git: Git;
  readonly #known: StatCache;
  readonly #next: StatCache;
  readonly #records: Buffer[] = [];
  readonly #expected: string[] = [];

  /**
   * @param known contains the trees that are in the repository
   * @param next records the trees of this walk
   */
  constructor(git: Git, known: StatCache, next: StatCache) {
    this.#git = git;
    this.#known = known;
    this.#next = next;
  }

  /** Adds the trees of a whole workspace; returns the id of the root. Nothing is written before `finish`. */
  addAll(entries: readonly Entry[]): string {
    const items = new Map<BytePath, TreeItem[]>([['', []]]);
    for (const { path, kind } of entries) if (kind === 'directory') items.set(path, []);
    // The entries of a directory follow it: in reverse order, each directory is complete when it is reached.
    for (const entry of entries.toReversed()) {
      const { path } = entry;
      const object = entry.kind === 'directory' ? this.add(items.get(path) ?? []) : entry.object;
      const parent = parentOf(path);
      const name = parent === '' ? path : path.slice(parent.length + 1);
      items.get(parent)?.push({ name, mode: gitModeOf(entry), object });
    }
    return this.add(items.get('') ?? []);
  }

  /** Adds one tree; returns its id. */
  add(items: readonly TreeItem[]): string {
    const sorted = items.toSorted((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1));
    const id = treeId(sorted);
    if (!this.#known.hasTree(id) && !this.#next.hasTree(id)) {
      this.#records.push(...sorted.map(toRecord), Buffer.from('\0'));
      this.#expected.push(id);
    }
    this.#next.addTree(id);
    return id;
  }

  /**
   * Writes the trees.
   * @throws AdapterError CHECKPOINT_FAILED when an object is missing that they refer to, and as `Git` does
   */
  async finish(): Promise<void> {
    if (this.#records.length === 0) return;
    const output = await this.#git.run(['mktree', '-z', '--batch'], Buffer.concat(this.#records));
    if (output.toString().trim() === this.#expected.join('\n')) return;
    throw new AdapterError('CHECKPOINT_FAILED', 'git has written other trees than it was given');
  }
}

/** git sorts directories as if their names ended in a slash. */
const sortKey = ({ name, mode }: TreeItem): string => (mode === '40000' ? `${name}/` : name);

/** Source: git-mktree(1), the format of `git ls-tree -z`. */
function toRecord({ name, mode, object }: TreeItem): Buffer {
  const type = mode === '40000' ? 'tree' : 'blob';
  return toBytes(`${mode.padStart(6, '0')} ${type} ${object}\t${name}\0`);
}

/** Returns git's id of a tree: the hash of `MODE NAME NUL ID` of each entry. */
function treeId(items: readonly TreeItem[]): string {
  const content = items.map(({ name, mode, object }) => {
    return Buffer.concat([toBytes(`${mode} ${name}\0`), Buffer.from(object, 'hex')]);
  });
  const length = content.reduce((sum, { length: bytes }) => sum + bytes, 0);
  const hash = createHash('sha1').update(`tree ${length}\0`);
  for (const part of content) hash.update(part);
  return hash.digest('hex');
}
