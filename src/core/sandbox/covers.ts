import type { Place } from './arguments.js';

/** Whether a path lies in a directory, at any depth; both without links. */
export const isWithin = (path: string, directory: string): boolean => path.startsWith(`${directory}/`);

/**
 * What has to be mounted so that these places are hidden, and stay so.
 *
 * - One within another hidden directory is left out: nothing can be mounted where nothing is, nor has to be. Not so what
 *   lies in the workspace, which shows through the directories around it.
 * - Directories of the workspace on the way to one are mounted onto themselves: they could be renamed otherwise, and the
 *   next sandbox would look for it in vain.
 * @param hidden all of them without links, as is the workspace
 */
export function coversOf(hidden: readonly Place[], workspace: string): readonly Place[] {
  const isShown = (path: string, directory: string) => isWithin(workspace, directory) && isWithin(path, workspace);
  const covers = hidden.filter(({ path }) => {
    return !hidden.some((other) => isWithin(path, other.path) && !isShown(path, other.path));
  });
  return [...covers.flatMap(({ path }) => waysTo(path, workspace)), ...covers];
}

function waysTo(path: string, workspace: string): readonly Place[] {
  if (!isWithin(path, workspace)) return [];
  const names = path.slice(workspace.length + 1).split('/');
  return names.slice(1).map((_, index) => ({
    path: [workspace, ...names.slice(0, index + 1)].join('/'),
    view: 'writable',
  }));
}
