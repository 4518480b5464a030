import { lstatSync } from 'node:fs';
import { join } from 'node:path';

import type { Place, View } from '../../core/sandbox/arguments.js';
import { isWithin } from '../../core/sandbox/covers.js';
import { realPath } from './machine-places.js';

/** Directories that are empty inside, and can be filled before the program begins. */
const FILLABLE: ReadonlySet<View> = new Set<View>(['temporary', 'frame']);

/**
 * Links on the way to a directory that lie where a sandbox has a directory of its own: a workspace may be named by a link in
 * /tmp, which would not be there.
 * @param places what the sandbox sees
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
