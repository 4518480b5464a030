import { hasCode } from '../../client/contract/errors.js';
import type { ClientFiles } from '../../client/index.js';
import { CommandLineError } from '../console/failure.js';
import type { FileTransfers } from './file-transfers.js';
import type { CopyProgress } from './progress.js';

/** How a copy is made. */
export interface CopyPlan {
  /** Makes a request; waits when the token has made too many of them. */
  readonly ask: <T>(request: (files: ClientFiles) => Promise<T>) => Promise<T>;
  readonly transfers: FileTransfers;
  readonly isRecursive: boolean;
  readonly progress: CopyProgress;
  /** Tells the user what was left out. */
  note(text: string): Promise<void>;
}

/** The name of a file that is not complete, beside its place. Short enough for a name of 255 bytes. */
export const partName = (name: string, key: string): string => `.${name.slice(0, SHOWN_NAME)}.${key}.part`;

const SHOWN_NAME = 40;

/** For a `catch`: undefined for a path that does not exist. */
export function undefinedIfMissing(error: unknown): undefined {
  if (hasCode(error, 'FILE_NOT_FOUND')) return undefined;
  throw error;
}

/** The error for a directory without `--recursive`. */
export const isDirectoryError = (path: string): CommandLineError =>
  new CommandLineError(`${path} is a directory`, { hint: 'Copy it with all that is in it by -r.' });
