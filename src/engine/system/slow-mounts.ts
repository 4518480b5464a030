import { parseMounts } from './mount-table.js';
import { readSmallFile } from './small-file.js';

/** File systems that ask a network or a program: a call may take forever. Source: filesystems(5). */
const SLOW_TYPES = /^(?:fuse|nfs|cifs|smb|9p|afs|ceph|gluster|lustre|autofs|coda|ncpfs)/;
/** How long a list of mounts is used, in milliseconds. */
const MAX_AGE_MS = 1_000;

let points: readonly string[] = [];
let readAt = -Infinity;

/**
 * Returns the directories where file systems are mounted on which a synchronous call may block the daemon. The list is at
 * most a second old; it is empty where mounts cannot be listed.
 */
export function slowMounts(): readonly string[] {
  const now = performance.now();
  if (now - readAt > MAX_AGE_MS) {
    points = parseSlowMounts(readSmallFile('/proc/self/mountinfo') ?? '');
    readAt = now;
  }
  return points;
}

/** The mount points of slow file systems in the text of /proc/self/mountinfo, read as Latin-1. */
export const parseSlowMounts = (mountinfo: string): readonly string[] =>
  parseMounts(mountinfo)
    .filter(({ type }) => SLOW_TYPES.test(type))
    .map(({ point }) => Buffer.from(point, 'latin1').toString());
