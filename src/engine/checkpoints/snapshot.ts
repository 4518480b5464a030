import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from 'node:fs';

import {
  type Attributes,
  type BytePath,
  comparePaths,
  type Entries,
  type Entry,
  parentOf,
  type Skipped,
  type SkipReason,
} from '../../core/checkpoints.js';
import type { SavedTree } from '../../core/restore.js';
import { AdapterError } from '../../core/errors.js';
import type { Directories } from '../platform/platform.js';
import { type Location, OpenTree } from './files/held-directory.js';
import {
  type CheckpointLimits,
  factsOf,
  type FoundEntry,
  reasonOf,
  type StatFacts,
  walk,
  type WalkOptions,
} from './files/walk.js';
import { StatCache } from './files/stat-cache.js';
import { blobHash, BlobWriter } from './git/blob-writer.js';
import { type Git, toBytes } from './git/git.js';
import type { Repository } from './git/repository.js';

/** Read size for larger files. */
const PIECE_BYTES = 1024 * 1024;
/** Attempts at reading a file that changes meanwhile. */
const ATTEMPTS = 3;
/** Two changes of a file within a tick of the kernel's clock, 10 ms at most, have the same time. */
const TICK_MS = 10;

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;

/**
 * A stored content with the state of its file; or the reason why it could not be stored; or undefined when the file is
 * gone.
 */
type Stored =
  | { readonly object: string; readonly stat: StatFacts; readonly size: number }
  | { readonly reason: SkipReason }
  | undefined;

/** Stores the target of a symbolic link. */
async function storeLink({ directory, name }: Location, writer: BlobWriter, stat: StatFacts): Promise<Stored> {
  try {
    const target = toBytes(readlinkSync(directory.entry(name), { encoding: 'latin1' }));
    return { object: await writer.write(target), stat, size: target.length };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // EINVAL: it is no longer a link.
    return code === 'EINVAL' ? { reason: 'changing' } : skipFor(error);
  }
}

/** Stores the content of a file at one moment: a file that changes while it is read is read again. */
async function storeFile({ directory, name }: Location, writer: BlobWriter, maxBytes: number): Promise<Stored> {
  let fd: number;
  try {
    // A FIFO that has replaced the file must not block the open.
    fd = openSync(directory.entry(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  } catch (error) {
    return skipFor(error);
  }
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const before = fstatSync(fd, { bigint: true });
      if (!before.isFile()) return { reason: 'changing' };
      if (before.size > maxBytes) return { reason: 'too_large' };
      const size = Number(before.size);
      const isFresh = Date.now() - Number(before.mtimeMs) <= TICK_MS;
      const object = await store(fd, size, writer);
      const hasHeld = !isFresh && fstatSync(fd, { bigint: true }).mtimeNs === before.mtimeNs;
      // What is read twice the same was there at one moment: most often, the file was only appended to.
      if (object !== undefined && (hasHeld || object === readId(fd, size)))
        return { object, stat: factsOf(before), size };
    }
    return { reason: 'changing' };
  } catch (error) {
    return skipFor(error);
  } finally {
    closeSync(fd);
  }
}

function store(fd: number, size: number, writer: BlobWriter): Promise<string | undefined> {
  if (size > PIECE_BYTES) return writer.stream(size, pieces(fd));
  const content = Buffer.allocUnsafe(size);
  let length = 0;
  while (length < size) {
    const read = readSync(fd, content, length, size - length, length);
    if (read === 0) return Promise.resolve(undefined);
    length += read;
  }
  return writer.write(content);
}

/** The id of the blob that a file's first `size` bytes are now. */
function readId(fd: number, size: number): string {
  const hash = blobHash(size);
  let missing = size;
  for (const piece of pieces(fd)) {
    const fitting = piece.subarray(0, missing);
    hash.update(fitting);
    missing -= fitting.length;
    if (missing === 0) break;
  }
  return hash.digest('hex');
}

function* pieces(fd: number): Generator<Buffer> {
  for (let position = 0; ;) {
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    const read = readSync(fd, piece, 0, PIECE_BYTES, position);
    if (read === 0) return;
    position += read;
    yield piece.subarray(0, read);
  }
}

/** @throws errors that are not caused by the file. */
function skipFor(error: unknown): Stored {
  const reason = reasonOf(error);
  return reason && { reason };
}

/** An entry of a git tree. */
interface TreeItem {
  readonly name: BytePath;
  readonly mode: '100644' | '100755' | '120000' | '40000';
  readonly object: string;
}

const EXECUTABLE = 0o100;

/** Returns git's mode of an entry. */
function gitModeOf({ kind, mode }: Pick<Entry, 'kind' | 'mode'>): TreeItem['mode'] {
  if (kind === 'directory') return '40000';
  if (kind === 'link') return '120000';
  return (mode & EXECUTABLE) === 0 ? '100644' : '100755';
}

/**
 * Writes the trees of a repository. Uses mktree, because an index accepts no empty directories and none of the names
 * that are equivalent to `.git` on some systems (`.GIT`, `git~1`).
 */
class TreeWriter {
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

/** Permissions and owner in the format of a checkpoint. */
type AttributeTuple = readonly [mode: number, uid: number, gid: number];

/** Format version; incremented when an earlier version of the adapter would misread the data. */
const METADATA_VERSION = 1;

/** The part of a checkpoint that git's trees cannot represent. */
interface Metadata {
  readonly version: number;
  readonly skipped: readonly Skipped[];
  /** Most frequent attributes per kind of entry. */
  readonly usual: Partial<Record<TreeItem['mode'], AttributeTuple>>;
  /** Attributes of all other entries. */
  readonly unusual: readonly (readonly [path: BytePath, ...attributes: AttributeTuple])[];
}

const tupleOf = ({ mode, uid, gid }: Attributes): AttributeTuple => [mode, uid, gid];

/** Describes the entries of a workspace. */
function describeEntries(entries: readonly Entry[], skipped: readonly Skipped[]): Metadata {
  const usual: Partial<Record<TreeItem['mode'], AttributeTuple>> = {};
  for (const mode of ['100644', '100755', '120000', '40000'] as const) {
    const most = mostFrequent(entries.filter((entry) => gitModeOf(entry) === mode).map(tupleOf));
    if (most) usual[mode] = most;
  }
  const unusual = entries
    .filter((entry) => String(tupleOf(entry)) !== String(usual[gitModeOf(entry)]))
    .map((entry) => [entry.path, ...tupleOf(entry)] as const);
  return { version: METADATA_VERSION, skipped, usual, unusual };
}

function mostFrequent(tuples: readonly AttributeTuple[]): AttributeTuple | undefined {
  const counts = new Map<string, number>();
  let most: AttributeTuple | undefined;
  for (const tuple of tuples) {
    const count = (counts.get(String(tuple)) ?? 0) + 1;
    counts.set(String(tuple), count);
    if (count > (counts.get(String(most)) ?? 0) || most === undefined) most = tuple;
  }
  return most;
}

/** Returns a function that looks up the attributes of an entry of a checkpoint. */
function attributeReader({ usual, unusual }: Metadata): (path: BytePath, mode: TreeItem['mode']) => Attributes {
  const exceptions = new Map(unusual.map(([path, ...tuple]) => [path, tuple]));
  return (path, gitMode) => {
    const [mode, uid, gid] = exceptions.get(path) ?? usual[gitMode] ?? [0o755, 0, 0];
    return { mode, uid, gid };
  };
}

/** Reads the entries of a checkpoint, without the contents. */
export async function readSavedTree(git: Git, commit: string): Promise<SavedTree> {
  const [listing, described] = await Promise.all([
    git.run(['ls-tree', '-r', '-t', '-z', `${commit}:files`]),
    git.run(['cat-file', 'blob', `${commit}:metadata`]),
  ]);
  const metadata = JSON.parse(described.toString()) as Metadata;
  if (metadata.version !== METADATA_VERSION) {
    throw new AdapterError('CHECKPOINT_FAILED', 'the checkpoint was made by a later version of the adapter');
  }
  const attributesOf = attributeReader(metadata);
  const entries = new Map<string, Entry>();
  for (const line of listing.toString('latin1').split('\0')) {
    if (line === '') continue;
    const tab = line.indexOf('\t');
    const path = line.slice(tab + 1);
    const [mode = '', , object = ''] = line.slice(0, tab).split(' ');
    const gitMode = mode.replace(/^0/, '') as TreeItem['mode'];
    const kind = KINDS[gitMode];
    entries.set(path, { path, kind, object: kind === 'directory' ? '' : object, ...attributesOf(path, gitMode) });
  }
  return { entries, skipped: metadata.skipped };
}

const KINDS: Readonly<Record<TreeItem['mode'], Entry['kind']>> = {
  '100644': 'file',
  '100755': 'file',
  '120000': 'link',
  '40000': 'directory',
};

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

interface SnapshotOptions extends WalkOptions {
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
