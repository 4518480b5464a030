import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';

import { AdapterError } from '../core/errors.js';

/**
 * The directory in which a tool runs: the workspace, or a directory in it. What a tool may do there is the operator's
 * choice, so a client cannot choose another place.
 * @throws AdapterError BAD_DIRECTORY
 */
export function workingDirectory(wanted: string | undefined, workspace: string): string {
  const path = resolve(workspace, wanted ?? '.');
  const real = realDirectory(path);
  const inside = relative(realDirectory(workspace), real);
  if (inside === '..' || inside.startsWith('../') || isAbsolute(inside)) throw refusal(path, 'is not in the workspace');
  return real;
}

function realDirectory(path: string): string {
  let real: string;
  try {
    real = realpathSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw refusal(path, code === 'ENOENT' ? 'does not exist' : `cannot be entered (${code ?? 'unknown error'})`);
  }
  if (!statSync(real).isDirectory()) throw refusal(path, 'is not a directory');
  return real;
}

const refusal = (directory: string, why: string): AdapterError =>
  new AdapterError('BAD_DIRECTORY', `${directory} ${why}`, { details: { directory } });
