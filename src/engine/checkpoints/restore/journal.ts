import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { BytePath } from '../../../core/checkpoints/entry.js';
import type { Step } from '../../../core/checkpoints/restore-steps.js';

/**
 * Progress of a restore, on disk before the next phase starts: if the process or the machine dies in the middle, the
 * next run undoes it. Before `moving` nothing of the workspace was touched; in `done` all steps are complete.
 */
export interface JournalEntry {
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
    writeFileSync(`${this.#file}.new`, JSON.stringify(entry), { mode: 0o600, flush: true });
    renameSync(`${this.#file}.new`, this.#file);
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
