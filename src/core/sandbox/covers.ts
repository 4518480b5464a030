import type { Place } from './arguments.js';

/** Whether a path lies in a directory, at any depth; both without links. */
export const isWithin = (path: string, directory: string): boolean => path.startsWith(`${directory}/`);

/**
 * The mounts that are needed so that these places are hidden and stay hidden.
 *
 * - A place within another hidden directory is omitted: it does not exist there, so it needs no mount and cannot have
 * one. Exception: places in the workspace, which shows through the directories around it.
 * - Directories of the workspace on the way to a place are mounted onto themselves: otherwise they could be renamed,
 * and the next sandbox would not find the place.
 * @param hidden all of them without links, as is the workspace
 */
export function coversOf(hidden: readonly Place[], workspace: string): readonly Place[] {
  const showsThrough = (path: string, directory: string) => isWithin(workspace, directory) && isWithin(path, workspace);
  const covers = hidden.filter(({ path }) => {
    return !hidden.some((other) => isWithin(path, other.path) && !showsThrough(path, other.path));
  });
  return [...covers.flatMap(({ path }) => parentMounts(path, workspace)), ...covers];
}

function parentMounts(path: string, workspace: string): readonly Place[] {
  if (!isWithin(path, workspace)) return [];
  const names = path.slice(workspace.length + 1).split('/');
  return names.slice(1).map((_, index) => ({
    path: [workspace, ...names.slice(0, index + 1)].join('/'),
    view: 'writable',
  }));
}
