import { type Entries, type Entry, comparePaths, type Skipped } from '../../../core/checkpoints/entry.js';
import type { Directories } from '../../platform/contract/directories.js';
import { BlobWriter } from '../git/blob-writer.js';
import { type Stored, storeFile, storeLink } from './content.js';
import { OpenTree } from '../files/held-directory.js';
import type { CheckpointLimits } from '../files/limits.js';
import { describeEntries } from './metadata.js';
import type { Repository } from '../git/repository.js';
import { StatCache } from '../files/stat-cache.js';
import { TreeWriter } from './tree-writer.js';
import { type FoundEntry, reasonOf, type StatFacts, walk, type WalkOptions } from '../files/walk.js';

/** An entry whose content is in the repository. */
export interface SavedEntry extends Entry {
  readonly stat: StatFacts;
}

/** A workspace at one moment, with its contents in the repository. */
export interface Snapshot {
  /** Tree of a commit: `files` is the workspace, `metadata` the part that git's trees cannot represent. */
  readonly tree: string;
  readonly entries: Entries<SavedEntry>;
  readonly skipped: readonly Skipped[];
  /** Files and links. */
  readonly files: number;
  /** Total size of their contents. */
  readonly bytes: number;
  /** Cache for the next snapshot, which need not read unchanged files again. */
  readonly cache: StatCache;
}

/** Options of a snapshot. */
export interface SnapshotOptions extends WalkOptions {
  readonly limits: CheckpointLimits;
  readonly workspace: string;
  readonly directories: Directories;
  readonly repository: Repository;
  /** Contents stored by an earlier snapshot. */
  readonly cache: StatCache;
}

/**
 * Stores the workspace in the repository. Only reads the workspace.
 * @throws AdapterError CHECKPOINT_TOO_LARGE, CHECKPOINT_FAILED, RESOURCE_EXHAUSTED, GIT_NOT_FOUND; the file system's
 * error when the workspace itself cannot be read
 */
export async function takeSnapshot(options: SnapshotOptions): Promise<Snapshot> {
  const { workspace, directories, repository, cache: known } = options;
  const cache = new StatCache(Date.now());
  using tree = new OpenTree(workspace, directories);
  const found = walk(tree.root, options);
  const writer = new BlobWriter(repository.git);
  try {
    const stored = await storeContents(found.entries, { ...options, tree, writer, known, next: cache });
    const skipped = [...found.skipped, ...stored.skipped].sort((a, b) => comparePaths(a.path, b.path));
    const metadata = await writer.write(Buffer.from(JSON.stringify(describeEntries(stored.entries, skipped))));
    await writer.finish();
    const trees = new TreeWriter(repository.git, known, cache);
    const files = trees.addAll(stored.entries);
    const top = trees.add([
      { name: 'files', mode: '40000', object: files },
      { name: 'metadata', mode: '100644', object: metadata },
    ]);
    await trees.finish();
    const entries = new Map(stored.entries.map((entry) => [entry.path, entry]));
    return { tree: top, entries, skipped, files: stored.files, bytes: stored.bytes, cache };
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

interface StoreOptions extends SnapshotOptions {
  readonly tree: OpenTree;
  readonly writer: BlobWriter;
  readonly known: StatCache;
  readonly next: StatCache;
}

async function storeContents(found: readonly FoundEntry[], options: StoreOptions) {
  const entries: SavedEntry[] = [];
  const skipped: Skipped[] = [];
  let files = 0;
  let bytes = 0;
  for (const entry of found) {
    if (entry.kind === 'directory') {
      entries.push(saved(entry, '', entry.stat));
      continue;
    }
    const content = await contentOf(entry, options);
    if (!content) continue;
    if ('reason' in content) {
      skipped.push({ path: entry.path, reason: content.reason });
      continue;
    }
    const { object, stat, size } = content;
    options.next.add(entry.path, object, size, stat);
    entries.push(saved(entry, object, stat));
    files += 1;
    bytes += size;
  }
  return { entries, skipped, files, bytes };
}

function saved({ path, kind, mode, uid, gid }: FoundEntry, object: string, stat: StatFacts): SavedEntry {
  return { path, kind, mode, uid, gid, object, stat };
}

async function contentOf(entry: FoundEntry, { tree, writer, known, limits }: StoreOptions): Promise<Stored> {
  const { kind, path, size, stat } = entry;
  const object = known.find(entry);
  if (object !== undefined) return { object, stat, size };
  try {
    const location = tree.locate(path);
    return await (kind === 'link'
      ? storeLink(location, writer, stat)
      : storeFile(location, writer, limits.maxFileBytes));
  } catch (error) {
    // A directory above it has been removed, or replaced by something else.
    const reason = reasonOf(error);
    return reason && { reason };
  }
}
