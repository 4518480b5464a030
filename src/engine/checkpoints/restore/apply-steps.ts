import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmdirSync,
} from 'node:fs';

import type { Attributes, BytePath, Entries, Entry } from '../../../core/checkpoints/entry.js';
import { MADE_DIRECTORY_MODE, type Step } from '../../../core/checkpoints/restore-steps.js';
import { AdapterError } from '../../../core/errors.js';
import { toText } from '../git/byte-path.js';
import type { Location, OpenTree } from '../files/held-directory.js';
import type { SavedEntry } from '../capture/snapshot.js';
import { CAN_SET_OWNERS, type StagingDirectory } from '../files/staging.js';
import { isSameFile } from '../files/stat-cache.js';
import { factsOf } from '../files/walk.js';

/** Where steps are applied. */
export interface Site {
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
export function undoStep(step: Step, { tree, staging }: Site): void {
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
