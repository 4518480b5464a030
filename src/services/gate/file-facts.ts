import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import type { FileFacts, PolicyFacts } from '../../core/policy/model/facts.js';
import { isWithin } from '../../core/policy/paths/paths.js';
import { followLinks } from '../../engine/system/local-files.js';
import { slowMounts } from '../../engine/system/mounts.js';

/** Bytes at the start of a file in which a key is searched. */
const HEAD_BYTES = 4_096;
/** Views of processes and devices: their links lead elsewhere in each process. */
const VIEWS = ['/proc', '/dev', '/sys'] as const;
/** Lines with which private keys begin. Source: RFC 7468, RFC 9580, and the formats of PuTTY and age. */
const KEY = /^(?:-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|PuTTY-User-Key-File-\d|AGE-SECRET-KEY-1)/m;

/** One buffer is enough: reads are synchronous. */
const head = Buffer.allocUnsafeSlow(HEAD_BYTES);

/** The directories with which the policy compares paths. */
type ComparedFacts = Pick<PolicyFacts, 'workspace' | 'home' | 'scratch'>;

/**
 * Looks at files: where links lead, and whether the content is a private key. Files that are what their paths say are left
 * out, and so are file systems that may not answer.
 * @param paths absolute; of a pattern, the links of its directory are found
 */
export function lookAtFiles(paths: readonly string[], facts: ComparedFacts): ReadonlyMap<string, FileFacts> {
  const found = new Map<string, FileFacts>();
  const slow = slowMounts();
  const nameOf = namesOf(facts, slow);
  for (const path of paths.filter((each) => !isView(each))) {
    const real = followLinks(path, slow);
    if (real === undefined) continue;
    const target = nameOf(real);
    const entry = target === path ? path : nameOf(entryOf(path, slow));
    const isKey = holdsKey(real);
    if (isKey || target !== path) found.set(path, { target, entry, isKey });
  }
  return found;
}

const isView = (path: string): boolean =>
  !isWithin(path, '/dev/shm') && VIEWS.some((directory) => isWithin(path, directory));

/** The directory entry that a path names; it may be a link itself. */
const entryOf = (path: string, slow: readonly string[]): string =>
  join(followLinks(dirname(path), slow) ?? dirname(path), basename(path));

/** Returns a function that gives a real path the name by which the policy knows its directory, which may be a link. */
function namesOf({ workspace, home, scratch }: ComparedFacts, slow: readonly string[]): (real: string) => string {
  const known = [workspace, ...(home === undefined ? [] : [home]), ...scratch]
    .map((name) => ({ name, real: followLinks(name, slow) ?? name }))
    .filter(({ name, real }) => name !== real);
  return (path) => {
    const directory = known.find(({ real }) => isWithin(path, real));
    return directory ? join(directory.name, path.slice(directory.real.length)) : path;
  };
}

/** Whether a regular file begins like a private key. */
function holdsKey(path: string): boolean {
  let fd: number;
  try {
    // A named pipe would wait for a writer.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch {
    // Missing, not readable for the daemon, or exchanged for a link: commands of the same user cannot read it either.
    return false;
  }
  try {
    return fstatSync(fd).isFile() && KEY.test(head.toString('latin1', 0, readSync(fd, head, 0, HEAD_BYTES, 0)));
  } catch {
    // EIO: a command cannot read it either.
    return false;
  } finally {
    closeSync(fd);
  }
}
