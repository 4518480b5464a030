import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';

import { AdapterError } from '../../core/errors.js';

/**
 * Resolves a directory named by a client, and checks that it can be entered.
 * @param see maps a path as seen by a session to one that the daemon can open
 * @throws AdapterError BAD_DIRECTORY
 */
export function existingDirectory(wanted: string, base: string, see = (path: string) => path): string {
  const path = resolve(base, wanted);
  const refuse = (why: string): never => {
    throw new AdapterError('BAD_DIRECTORY', `${path} ${why}`, { details: { directory: path } });
  };
  try {
    const seen = see(path);
    if (!statSync(seen).isDirectory()) refuse('is not a directory');
    accessSync(seen, constants.X_OK);
  } catch (error) {
    if (error instanceof AdapterError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    refuse(code === 'ENOENT' ? 'does not exist' : `cannot be entered (${code ?? 'unknown error'})`);
  }
  return path;
}
