import { readSmallFile } from './local-files.js';

/** Type of a tmpfs in statfs(2), of linux/magic.h. */
export const TMPFS_MAGIC = 0x01021994;

/** A line of /proc/PID/mountinfo; only the fields used here (proc_pid_mountinfo(5)). */
export interface Mount {
  /** `major:minor`: the same for every mount of a file system. */
  readonly device: string;
  /** Directory of the file system that is mounted. */
  readonly root: string;
  readonly point: string;
  readonly type: string;
  /** Options of the file system. */
  readonly options: readonly string[];
}

/** Parses the text of /proc/PID/mountinfo. */
export function parseMounts(mountinfo: string): Mount[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [fields = '', source = ''] = line.split(' - ');
    const [, , device, root, point] = fields.split(' ');
    const [type, , options = ''] = source.split(' ');
    if (device === undefined || root === undefined || point === undefined || type === undefined) return [];
    return [{ device, root, point: point.replaceAll('\\040', ' '), type, options: options.split(',') }];
  });
}

/**
 * Returns the mount points through which control groups can be reached: each hierarchy at every place where it is mounted.
 * @param directories of the groups
 * @param mountinfo text of /proc/self/mountinfo
 */
export function mountPointsOf(directories: readonly string[], mountinfo: string): readonly string[] {
  const mounts = parseMounts(mountinfo).filter(({ type }) => type === 'cgroup' || type === 'cgroup2');
  const isAround = ({ point }: Mount) => directories.some((directory) => `${directory}/`.startsWith(`${point}/`));
  const devices = new Set(mounts.filter(isAround).map(({ device }) => device));
  return mounts.filter(({ device }) => devices.has(device)).map(({ point }) => point);
}

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
