import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { BytePath } from '../../../core/checkpoints/entry.js';
import type { Step } from '../../../core/checkpoints/restore-steps.js';

/**
 * How far a restore has come, on the disk before it goes further: should the process or the machine end in the middle,
 * the next one undoes it. Until `moving` nothing of the workspace was touched; after it, everything is done.
 */
export interface JournalEntry {
  readonly phase: 'staging' | 'moving' | 'done';
  /** Name of the staging directory in the workspace. */
  readonly staging: BytePath;
  readonly undoCheckpoint: string;
  /** In the order in which they are made. */
  readonly steps: readonly Step[];
}

/** The note about the restore that is under way. */
export class Journal {
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** Whether a restore is under way, or was interrupted. */
  get exists(): boolean {
    return existsSync(this.#file);
  }

  /** What was noted; undefined when nothing was. */
  read(): JournalEntry | undefined {
    if (!this.exists) return undefined;
    return JSON.parse(readFileSync(this.#file, 'utf8')) as JournalEntry;
  }

  /** Notes how far a restore has come. */
  write(entry: JournalEntry): void {
    writeFileSync(`${this.#file}.new`, JSON.stringify(entry), { mode: 0o600, flush: true });
    renameSync(`${this.#file}.new`, this.#file);
  }

  /** The restore is over and nothing of it is left. */
  remove(): void {
    rmSync(this.#file, { force: true });
  }
}

/** The journal of the store in a directory. */
export const journalOf = (directory: string): Journal => new Journal(join(directory, 'restore.json'));

/** Whether a restore was interrupted there, or is under way. */
export const hasInterruptedRestore = (directory: string): boolean => journalOf(directory).exists;
