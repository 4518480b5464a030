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

/** The mode that git knows an entry by. */
export function gitModeOf({ kind, mode }: Pick<Entry, 'kind' | 'mode'>): TreeItem['mode'] {
  if (kind === 'directory') return '40000';
  if (kind === 'link') return '120000';
  return (mode & EXECUTABLE) === 0 ? '100644' : '100755';
}

/**
 * Makes the trees of a repository. By mktree, because an index takes no empty directories and none of the names that
 * could pass for `.git` somewhere (`.GIT`, `git~1`).
 */
export class TreeWriter {
  readonly #git: Git;
  readonly #known: StatCache;
  readonly #next: StatCache;
  readonly #records: Buffer[] = [];
  readonly #expected: string[] = [];

  /**
   * @param known has the trees that are in the repository
   * @param next takes note of those of this walk
   */
  constructor(git: Git, known: StatCache, next: StatCache) {
    this.#git = git;
    this.#known = known;
    this.#next = next;
  }

  /** Makes the trees of a whole workspace; gives the id of the uppermost. Nothing is written before `finish`. */
  addAll(entries: readonly Entry[]): string {
    const items = new Map<BytePath, TreeItem[]>([['', []]]);
    for (const { path, kind } of entries) if (kind === 'directory') items.set(path, []);
    // What is in a directory comes after it: from behind, each is complete when its turn comes.
    for (const entry of entries.toReversed()) {
      const { path } = entry;
      const object = entry.kind === 'directory' ? this.add(items.get(path) ?? []) : entry.object;
      const parent = parentOf(path);
      const name = parent === '' ? path : path.slice(parent.length + 1);
      items.get(parent)?.push({ name, mode: gitModeOf(entry), object });
    }
    return this.add(items.get('') ?? []);
  }

  /** Makes one tree; gives its id. */
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
   * @throws AdapterError CHECKPOINT_FAILED when something is missing that they are made of, and as `Git` does
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

/** The id that git gives to a tree: the hash of `MODE NAME NUL ID` of each entry. */
function treeId(items: readonly TreeItem[]): string {
  const content = items.map(({ name, mode, object }) => {
    return Buffer.concat([toBytes(`${mode} ${name}\0`), Buffer.from(object, 'hex')]);
  });
  const length = content.reduce((sum, { length: bytes }) => sum + bytes, 0);
  const hash = createHash('sha1').update(`tree ${length}\0`);
  for (const part of content) hash.update(part);
  return hash.digest('hex');
}
