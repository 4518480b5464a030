import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';

import { AdapterError } from '../core/errors.js';
import type { Execution } from '../services/users/executions.js';

/**
 * The directory in which a tool runs: the workspace, or a directory in it. What a tool may do there is the operator's
 * choice, so a client cannot choose another place.
 *
 * For another user the path alone is checked: links lead it no further than its rights go, and its tool enters the
 * directory.
 * @throws AdapterError BAD_DIRECTORY
 */
export function workingDirectory(
  wanted: string | undefined,
  { pool: { cwd: workspace }, launch }: Pick<Execution, 'pool' | 'launch'>,
): string {
  const path = resolve(workspace, wanted ?? '.');
  if (launch) {
    if (leadsOut(relative(workspace, path))) throw refusal(path, 'is not in the workspace');
    return path;
  }
  const real = realDirectory(path);
  const inside = relative(realDirectory(workspace), real);
  if (leadsOut(inside)) throw refusal(path, 'is not in the workspace');
  return real;
}

const leadsOut = (inside: string): boolean => inside === '..' || inside.startsWith('../') || isAbsolute(inside);

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
