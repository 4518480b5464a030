import { lstatSync, readlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Most links on the way to one file; the kernel follows as many. Source: path_resolution(7). */
const MAX_LINKS = 40;

/**
 * Resolves all links of an absolute path, without a call on a file system that may not answer. What does not exist or may
 * not be searched is left as it is.
 * @param slow directories of such file systems
 * @param root where the path begins, and absolute links do: the root directory of another process
 * @returns undefined if the path leads there, or through too many links
 */
export function followLinks(path: string, slow: readonly string[], root = ''): string | undefined {
  const isSlow = (place: string) => slow.some((point) => place === point || place.startsWith(`${point}/`));
  const rest = namesIn(path);
  let place = '/';
  let links = 0;
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    const next = join(place, name);
    if (isSlow(next)) return undefined;
    const link = readLink(`${root}${next}`);
    if (link === undefined) place = next;
    else {
      links += 1;
      if (links > MAX_LINKS) return undefined;
      rest.unshift(...namesIn(resolve(place, link)));
      place = '/';
    }
  }
  return place;
}

const namesIn = (path: string): string[] => path.split('/').filter((name) => name !== '');

/** The text of a symbolic link; undefined for anything else. */
function readLink(path: string): string | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true ? readlinkSync(path) : undefined;
  } catch {
    // EACCES, ENOTDIR, ENAMETOOLONG: there is nothing to follow. ENOENT: removed between the two.
    return undefined;
  }
}
