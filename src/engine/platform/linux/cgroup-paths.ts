import { join } from 'node:path';

import { type Mount, parseMounts } from '../../system/mount-table.js';
import { readSmallFile } from '../../system/small-file.js';

/**
 * Maps a path in the hierarchy to a path below the mount: a container may have only a part of the hierarchy mounted.
 */
function below({ root, point }: Mount, path: string): string {
  const isWithin = root !== '/' && (path === root || path.startsWith(`${root}/`));
  return join(point, isWithin ? path.slice(root.length) : path);
}

/**
 * Returns the directory of a process's group, by default that of the daemon.
 * @param controller of cgroup v1; undefined for cgroup v2
 * @param mountinfo text of /proc/self/mountinfo
 * @param membership text of /proc/self/cgroup
 */
export function ownGroupOf(
  controller: string | undefined,
  mountinfo = readSmallFile('/proc/self/mountinfo') ?? '',
  membership = readSmallFile('/proc/self/cgroup') ?? '',
): string | undefined {
  const isWanted = ({ type, options }: Mount) =>
    controller === undefined ? type === 'cgroup2' : type === 'cgroup' && options.includes(controller);
  const mount = parseMounts(mountinfo).find(isWanted);
  const line = membership.split('\n').find((text) => {
    const [number, controllers = ''] = text.split(':');
    return controller === undefined
      ? number === '0' && controllers === ''
      : controllers.split(',').includes(controller);
  });
  const path = line?.split(':').slice(2).join(':');
  return mount && path !== undefined ? below(mount, path) : undefined;
}
