import { lstatSync, mkdirSync, type Stats, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import type { Place } from '../../core/sandbox/arguments.js';

/**
 * Returns read-only mounts for the protected paths of a workspace. The directories above each are bind-mounted onto
 * themselves: otherwise they could be renamed, and replaced. A missing path is created where its directory exists,
 * because a missing path cannot be a mount point; it has the content that means nothing to its reader. A path through a
 * link is left out.
 * @param paths relative to the workspace; a directory that may have to be created ends in `/`
 */
export function protectedPlaces(workspace: string, paths: readonly string[]): readonly Place[] {
  const places = new Map<string, Place>();
  for (const path of paths) {
    for (const place of placesOf(workspace, path)) {
      if (place.view === 'read-only' || !places.has(place.path)) places.set(place.path, place);
    }
  }
  return [...places.values()];
}

function placesOf(workspace: string, path: string): readonly Place[] {
  const names = path.split('/').filter((name) => name !== '');
  const parents = names.slice(0, -1).map((_, index) => join(workspace, ...names.slice(0, index + 1)));
  if (!parents.every((parent) => stat(parent)?.isDirectory())) return [];
  const end = join(workspace, ...names);
  const found = stat(end) ?? make(end, path.endsWith('/'));
  if (!found || !(found.isFile() || found.isDirectory())) return [];
  return [...parents.map((parent): Place => ({ path: parent, view: 'writable' })), { path: end, view: 'read-only' }];
}

function make(path: string, isDirectory: boolean): Stats | undefined {
  try {
    if (isDirectory) mkdirSync(path);
    else writeFileSync(path, contentOfMissing(path), { flag: 'wx' });
  } catch {
    // EEXIST: another session has just created it. EACCES, EROFS: no process in the sandbox can create it either.
  }
  return stat(path);
}

/**
 * git refuses an empty `commondir`; `.` is the directory itself, as without the file.
 * Source: https://git-scm.com/docs/gitrepository-layout
 */
const contentOfMissing = (path: string): string => (basename(path) === 'commondir' ? '.\n' : '');

const stat = (path: string): Stats | undefined => lstatSync(path, { throwIfNoEntry: false });
