import { resolve } from 'node:path';

import { AdapterError } from '../../core/errors.js';
import { findShell, type InstalledShell, installedShells } from '../../engine/shells/list.js';
import { existingDirectory } from '../registry/existing-directory.js';
import type { Execution } from './executions.js';

/**
 * Resolves a directory named by a client. For the daemon's own user it is checked that it can be entered; other users'
 * shells find that out themselves, since the daemon may enter what they may not even know of.
 * @param see maps a path as seen by a session to one that the daemon can open
 * @throws AdapterError BAD_DIRECTORY
 */
export const enterableDirectory = (
  wanted: string,
  base: string,
  { launch }: Pick<Execution, 'launch'>,
  see?: (path: string) => string,
): string => (launch ? resolve(base, wanted) : existingDirectory(wanted, base, see));

/**
 * Checks that another user can enter a directory, where a failure later on would do harm.
 * @throws AdapterError BAD_DIRECTORY
 */
export async function assertEnterable(directory: string, { launch }: Pick<Execution, 'launch'>): Promise<void> {
  if (!launch || (await launch.canEnter(directory))) return;
  const message = `${directory} does not exist, or the user ${launch.user.name} cannot enter it`;
  throw new AdapterError('BAD_DIRECTORY', message, { details: { directory } });
}

/**
 * Finds the shell that a client wants. Other users get those of the search path: the daemon may see files that they may
 * not know of.
 * @throws AdapterError SHELL_NOT_FOUND
 */
export function shellFor(wanted: string | undefined, { pool, launch }: Execution): InstalledShell {
  if (wanted === undefined) return pool.defaultShell;
  const path = pool.env['PATH'] ?? '';
  if (!launch || !wanted.includes('/')) return findShell(wanted, path);
  const found = installedShells(path).find((shell) => shell.path === wanted);
  if (found) return found;
  const message = `${wanted} is no shell on PATH (${path}): a token with run_as can use those alone`;
  throw new AdapterError('SHELL_NOT_FOUND', message);
}
