import { lstatSync } from 'node:fs';
import { join } from 'node:path';

import type { Place, View } from '../../core/sandbox/arguments.js';
import { isWithin } from '../../core/sandbox/covers.js';
import { realPath } from './machine-places.js';

/** Directories that are empty inside the sandbox, and can be filled before the program starts. */
const FILLABLE: ReadonlySet<View> = new Set<View>(['temporary', 'frame']);

/**
 * Returns links on the path to a directory that are hidden by a directory of the sandbox: a workspace may be named by a
 * link in /tmp, which would be missing inside.
 * @param places visible in the sandbox
 */
export function linksOnTheWay(path: string, places: readonly Place[]): readonly Place[] {
  const isLost = (link: string) => places.some((place) => FILLABLE.has(place.view) && isWithin(link, place.path));
  const links: Place[] = [];
  let real = '/';
  for (const name of path.split('/').filter((part) => part !== '')) {
    const next = join(real, name);
    const target = realPath(next);
    if (target === undefined) return links;
    const isLink = lstatSync(next, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
    if (isLink && isLost(next)) links.push({ path: next, view: 'link', target });
    real = target;
  }
  return links;
}
