import { lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

import type { Place } from '../../core/sandbox/arguments.js';
import { isDirectory } from '../system/is-directory.js';

/** Write permission bits of a mode. */
const WRITE_BITS = 0o222;

/** Returns the system's part of a sandbox: its own /dev, /proc and /tmp, and no sockets of services. */
export function systemPlaces(): readonly Place[] {
  const places: readonly Place[] = [
    { path: '/dev', view: 'devices' },
    { path: '/dev/shm', view: 'shared-memory' },
    { path: '/proc', view: 'processes' },
    ...kernelSettings(),
    { path: '/tmp', view: 'temporary' },
    { path: '/var/tmp', view: 'temporary' },
    // Sockets of services that act with root privileges: Docker, D-Bus, systemd.
    { path: '/run', view: 'frame' },
    ...nameServers(),
  ];
  // On some systems, some of them are links to others.
  return places.filter(({ path }) => realPath(path) === path);
}

/**
 * Returns the entries of /proc that belong to no process: root may write to them without any capability. /proc/sys for
 * example names the program that the kernel runs, outside of every sandbox, when a process dumps core.
 */
function kernelSettings(): readonly Place[] {
  // Without `withFileTypes`: it fails for a process that has ended since its name was read.
  const names = readdirSync('/proc').filter((name) => !/^\d+$/.test(name));
  const isChangeable = (path: string): boolean => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat !== undefined && (stat.isDirectory() || (stat.isFile() && (stat.mode & WRITE_BITS) !== 0));
  };
  return names
    .map((name) => join('/proc', name))
    .filter(isChangeable)
    .map((path) => ({ path, view: 'read-only' }));
}

/** Returns /etc/resolv.conf's target: it often is a link to a file in /run. */
function nameServers(): readonly Place[] {
  const path = realPath('/etc/resolv.conf');
  return path?.startsWith('/run/') ? [{ path, view: 'read-only' }] : [];
}

/** Returns places that hide those of these paths that exist. */
export function hidden(paths: readonly string[]): readonly Place[] {
  return paths.flatMap((path): Place[] => {
    const real = realPath(path);
    if (real === undefined) return [];
    return [{ path: real, view: isDirectory(real) ? 'empty-directory' : 'empty-file' }];
  });
}

/** Resolves all links of a path; undefined when it does not exist. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    // ENOENT: missing. EACCES: inaccessible for the daemon, and for the programs it starts.
    return undefined;
  }
}
