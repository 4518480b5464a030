import { mkdirSync } from 'node:fs';

import type { BytePath, Entries } from '../../../core/checkpoints/entry.js';
import type { RestorePlan } from '../../../core/checkpoints/restore-plan.js';
import type { Step } from '../../../core/checkpoints/restore-steps.js';
import { AdapterError } from '../../../core/errors.js';
import { applyStep, type Site, undoStep } from './apply-steps.js';
import { toText } from '../git/byte-path.js';
import type { Git } from '../git/git.js';
import type { Directories } from '../../platform/contract/directories.js';
import { OpenTree } from '../files/held-directory.js';
import type { Journal, JournalEntry } from './journal.js';
import type { SavedEntry } from '../capture/snapshot.js';
import { STAGING_PREFIX, StagingDirectory } from '../files/staging.js';

/** Dependencies of a restore. */
export interface RestoreOptions {
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
