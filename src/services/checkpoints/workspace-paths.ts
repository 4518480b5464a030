import { posix } from 'node:path';

import type { BytePath } from '../../core/checkpoints/entry.js';
import { AdapterError } from '../../core/errors.js';
import { fromText } from '../../engine/checkpoints/git/git.js';

/**
 * Converts paths of a request to paths relative to the workspace. Without paths, returns the workspace itself, which is
 * the empty path. Links are not followed: a path names the link, not its target.
 * @param workspace absolute paths of the workspace, which differ when symbolic links lead to it
 * @throws AdapterError INVALID_REQUEST for a path outside of the workspace, or in a git directory
 */
export function workspacePaths(paths: readonly string[] | undefined, workspace: readonly string[]): BytePath[] {
  return (paths ?? ['.']).map((path) => fromText(relativePath(path, workspace)));
}

function relativePath(path: string, workspace: readonly string[]): string {
  // As in a shell, a trailing slash only says that the path is a directory.
  const normal = posix.normalize(path).replace(/(?<=.)\/$/, '');
  const inside = posix.isAbsolute(normal)
    ? workspace.map((root) => posix.relative(root, normal)).find((relative) => !leadsOut(relative))
    : normal;
  if (inside === undefined || leadsOut(inside)) throw refusal(path, 'is outside of the workspace');
  if (inside.split('/').includes('.git')) throw refusal(path, 'is in a git directory, which checkpoints do not have');
  return inside === '.' ? '' : inside;
}

const leadsOut = (relative: string): boolean => relative === '..' || relative.startsWith('../');

function refusal(path: string, why: string): AdapterError {
  return new AdapterError('INVALID_REQUEST', `paths: ${path} ${why}`, { details: { field: 'paths', path } });
}
