import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';

import type { Attributes, BytePath, Entries, Entry } from '../../core/checkpoints.js';
import { MADE_DIRECTORY_MODE, type RestorePlan, type Step } from '../../core/restore.js';
import { AdapterError } from '../../core/errors.js';
import type { Directories } from '../platform/platform.js';
import { writePrivateFile } from '../system/local-files.js';
import { type Location, OpenTree } from './files/held-directory.js';
import { CAN_SET_OWNERS, STAGING_PREFIX, StagingDirectory } from './files/staging.js';
import { isSameFile } from './files/stat-cache.js';
import { factsOf } from './files/walk.js';
import { type Git, toText } from './git/git.js';
import type { SavedEntry } from './snapshot.js';

/** Where steps are applied. */
interface Site {
  readonly tree: OpenTree;
  readonly staging: StagingDirectory;
}

/**
 * Applies one step.
 * @param current the workspace as it was saved: entries that have changed since are not taken out
 * @throws AdapterError RESTORE_FAILED when another process has changed the entry; the file system's error
 */
export function applyStep(step: Step, { tree, staging }: Site, current: Entries<SavedEntry>): void {
  const location = tree.locate(step.path);
  const place = entryAt(location);
  switch (step.kind) {
    case 'take_out':
      if (!isAsSaved(place, current.get(step.path))) throw changedMeanwhile(step.path);
      renameSync(place, staging.old(step.slot));
      break;
    case 'remove_directory':
      rmdirSync(place);
      break;
    case 'make_directory':
      mkdirSync(place, MADE_DIRECTORY_MODE);
      break;
    case 'put_in':
      if (exists(place)) throw changedMeanwhile(step.path);
      renameSync(staging.fresh(step.slot), place);
      break;
    case 'set_attributes':
      if (kindOf(place) !== step.of) throw changedMeanwhile(step.path);
      setAttributes(location, step.to);
      break;
  }
}

/** Undoes one step, whether it was applied or not. Entries that another process has put in its way stay. */
function undoStep(step: Step, { tree, staging }: Site): void {
  const location = locateIfThere(tree, step.path);
  if (!location) return;
  const place = entryAt(location);
  switch (step.kind) {
    case 'put_in':
      moveBack(place, staging.fresh(step.slot));
      break;
    case 'make_directory':
      removeIfEmpty(place);
      break;
    case 'remove_directory':
      makeAgain(location, step.attributes);
      break;
    case 'set_attributes':
      if (kindOf(place) === step.of) setAttributes(location, step.from);
      break;
    case 'take_out':
      moveBack(staging.old(step.slot), place);
      break;
  }
}

/** Moves an entry to where it was before a step; does nothing when that place is taken, or the entry is gone. */
function moveBack(from: Buffer, to: Buffer): void {
  if (exists(from) && !exists(to)) renameSync(from, to);
}

function makeAgain(location: Location, attributes: Attributes): void {
  const place = entryAt(location);
  if (exists(place)) return;
  mkdirSync(place, MADE_DIRECTORY_MODE);
  setAttributes(location, attributes);
}

const entryAt = ({ directory, name }: Location): Buffer => directory.entry(name);

function locateIfThere(tree: OpenTree, path: BytePath): Location | undefined {
  try {
    return tree.locate(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The directory above it was not created, or has been replaced.
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return undefined;
    throw error;
  }
}

function exists(path: Buffer): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function kindOf(path: Buffer): Entry['kind'] | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isDirectory() === true) return 'directory';
  if (stat?.isSymbolicLink() === true) return 'link';
  return stat?.isFile() === true ? 'file' : undefined;
}

function isAsSaved(place: Buffer, saved: SavedEntry | undefined): boolean {
  const stat = lstatSync(place, { bigint: true, throwIfNoEntry: false });
  return stat !== undefined && saved !== undefined && isSameFile(factsOf(stat), saved.stat);
}

function removeIfEmpty(place: Buffer): void {
  try {
    rmdirSync(place);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT' && code !== 'ENOTEMPTY' && code !== 'ENOTDIR') throw error;
  }
}

/** Sets permissions and owner of an entry; only the owner of a link. */
function setAttributes({ directory, name }: Location, { mode, uid, gid }: Attributes): void {
  const place = directory.entry(name);
  if (lstatSync(place).isSymbolicLink()) {
    if (CAN_SET_OWNERS) lchownSync(place, uid, gid);
    return;
  }
  const fd = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (CAN_SET_OWNERS) fchownSync(fd, uid, gid);
    fchmodSync(fd, mode);
  } finally {
    closeSync(fd);
  }
}

function changedMeanwhile(path: BytePath): AdapterError {
  const text = toText(path);
  return new AdapterError('RESTORE_FAILED', `${text} was changed while the workspace was being restored`, {
    details: { path: text, rolled_back: true },
  });
}

/**
 * Progress of a restore, on disk before the next phase starts: if the process or the machine dies in the middle, the
 * next run undoes it. Before `moving` nothing of the workspace was touched; in `done` all steps are complete.
 */
interface JournalEntry {
  readonly phase: 'staging' | 'moving' | 'done';
  /** Name of the staging directory in the workspace. */
  readonly staging: BytePath;
  readonly undoCheckpoint: string;
  /** In the order of their application. */
  readonly steps: readonly Step[];
}

/** The journal file of a restore in progress. */
export class Journal {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** Whether a restore is in progress, or was interrupted. */
  get exists(): boolean {
    return existsSync(this.#file);
  }

  /** Returns the last entry; undefined without one. */
  read(): JournalEntry | undefined {
    if (!this.exists) return undefined;
    return JSON.parse(readFileSync(this.#file, 'utf8')) as JournalEntry;
  }

  /** Records the progress of a restore. */
  write(entry: JournalEntry): void {
    writePrivateFile(this.#file, JSON.stringify(entry));
  }

  /** Removes the journal after the end of a restore. */
  remove(): void {
    rmSync(this.#file, { force: true });
  }
}

/** Returns the journal of the store in a directory. */
export const journalOf = (directory: string): Journal => new Journal(join(directory, 'restore.json'));

/** Whether a restore was interrupted there, or is in progress. */
export const hasInterruptedRestore = (directory: string): boolean => journalOf(directory).exists;

interface RestoreOptions {
  readonly workspace: string;
  readonly directories: Directories;
  readonly git: Git;
  readonly journal: Journal;
  readonly plan: RestorePlan;
  /** The workspace as it was saved a moment ago. */
  readonly current: Entries<SavedEntry>;
  readonly undoCheckpoint: string;
  /** Part of names; unique. */
  readonly token: string;
}

/** Permissions of a workspace that has to be created again. */
const WORKSPACE_MODE = 0o755;

/**
 * Creates the workspace directory when it was removed; its parents must exist.
 * @throws the file system's error
 */
export function ensureDirectory(workspace: string): void {
  try {
    mkdirSync(workspace, WORKSPACE_MODE);
  } catch (error) {
    // Opening it will show whether it is a directory.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * Restores the workspace: the contents are first created in a staging directory, then everything is moved. After a
 * failure, the workspace is unchanged.
 * @throws AdapterError RESTORE_FAILED, RESOURCE_EXHAUSTED, CHECKPOINT_FAILED
 */
export async function applyRestore(options: RestoreOptions): Promise<void> {
  const { workspace, directories, journal, plan, undoCheckpoint, token } = options;
  if (plan.steps.length === 0) return;
  using tree = new OpenTree(workspace, directories);
  const entry: JournalEntry = { phase: 'staging', staging: `${STAGING_PREFIX}${token}`, undoCheckpoint, steps: [] };
  let path: BytePath = '';
  journal.write(entry);
  try {
    using staging = StagingDirectory.make(tree.root, entry.staging);
    await staging.fill(options.git, plan.contents);
    journal.write({ ...entry, phase: 'moving', steps: plan.steps });
    for (const step of plan.steps) {
      path = step.path;
      applyStep(step, { tree, staging }, options.current);
    }
    journal.write({ ...entry, phase: 'done' });
  } catch (error) {
    const failure = asRestoreFailure(error, path, undoCheckpoint);
    rollBack(tree, journal, failure);
    throw failure;
  }
  finish(tree, journal, entry);
}

/**
 * Ends an interrupted restore: undoes it, or removes its leftovers.
 * @returns what was found, for the log; undefined when there was nothing
 * @throws AdapterError RESTORE_FAILED when it could not be undone
 */
export function recover(
  workspace: string,
  journal: Journal,
  directories: Directories,
): 'undone' | 'finished' | undefined {
  const entry = journal.read();
  if (!entry) return undefined;
  ensureDirectory(workspace);
  using tree = new OpenTree(workspace, directories);
  if (entry.phase === 'moving') {
    rollBack(tree, journal, undefined);
    return 'undone';
  }
  finish(tree, journal, entry);
  return 'finished';
}

/**
 * Rolls the workspace back to its state before the restore in the journal. A failure is not retried: moved entries stay
 * where they are, and the checkpoint made before has everything.
 */
function rollBack(tree: OpenTree, journal: Journal, reason: unknown): void {
  const entry = journal.read();
  if (!entry) return;
  try {
    if (entry.phase === 'moving') undoAll(entry, tree);
    finish(tree, journal, entry);
  } catch (error) {
    journal.remove();
    const why = plainReason(error);
    const message =
      `a restore failed${reason instanceof Error ? ` (${reason.message})` : ''} and could not be undone: ${why}; ` +
      `what it had moved is in ${entry.staging}, and checkpoint ${entry.undoCheckpoint} has everything`;
    throw new AdapterError('RESTORE_FAILED', message, {
      details: { rolled_back: false, undo_checkpoint_id: entry.undoCheckpoint, moved_to: entry.staging },
      cause: error,
    });
  }
}

function undoAll({ staging: name, steps }: JournalEntry, tree: OpenTree): void {
  using staging = StagingDirectory.open(tree.root, name);
  const site: Site = { tree, staging };
  tree.forget();
  for (const step of steps.toReversed()) undoStep(step, site);
  const lost = steps.filter((step): step is Step & { kind: 'take_out' } => {
    return step.kind === 'take_out' && staging.hasOld(step.slot);
  });
  if (lost.length === 0) return;
  throw new AdapterError('RESTORE_FAILED', `${lost.length} files could not be moved back to their places`);
}

function finish(tree: OpenTree, journal: Journal, { staging: name }: JournalEntry): void {
  tree.forget();
  StagingDirectory.remove(tree.root, name);
  journal.remove();
}

function asRestoreFailure(error: unknown, path: BytePath, undoCheckpoint: string): AdapterError {
  if (error instanceof AdapterError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new AdapterError('RESOURCE_EXHAUSTED', 'the disk with the workspace is full; the workspace is as it was', {
      details: { errno: code },
      cause: error,
    });
  }
  const place = toText(path);
  const where = place === '' ? '' : ` at ${place}`;
  const message = `the workspace could not be restored and is as it was: ${plainReason(error)}${where}`;
  const details = { errno: code ?? null, path: place, rolled_back: true, undo_checkpoint_id: undoCheckpoint };
  return new AdapterError('RESTORE_FAILED', message, { details, cause: error });
}

/** Removes paths from a system error message: they may be those of descriptors. */
const plainReason = (error: unknown): string => (error as Error).message.replace(/ '\/.*$/s, '');
