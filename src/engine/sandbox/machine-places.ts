import { lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';

import type { Place } from '../../core/sandbox/arguments.js';
import { SECRETS_OF_HOME, SECRETS_OF_MACHINE } from '../../core/sandbox/secret-places.js';

/** Bits of a mode that let somebody write. */
const WRITE_BITS = 0o222;

/** The system's own part: a /dev, /proc and /tmp of the sandbox's own, and no sockets of services. */
export function systemPlaces(): readonly Place[] {
  const places: readonly Place[] = [
    { path: '/dev', view: 'devices' },
    { path: '/dev/shm', view: 'shared-memory' },
    { path: '/proc', view: 'processes' },
    ...kernelSettings(),
    { path: '/tmp', view: 'temporary' },
    { path: '/var/tmp', view: 'temporary' },
    // Sockets of services which do what root asks: Docker, D-Bus, systemd.
    { path: '/run', view: 'frame' },
    ...nameServers(),
  ];
  // Some of them are links to others on some systems.
  return places.filter(({ path }) => realPath(path) === path);
}

/**
 * Of /proc, what belongs to no process: root may write to it without any capability. In /proc/sys stands for instance
 * which program the kernel runs, outside of every sandbox, when a process dumps core.
 */
function kernelSettings(): readonly Place[] {
  // Not with their types at once: what has ended since its name was read makes that fail.
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

/** /etc/resolv.conf often is a link to a file in /run. */
function nameServers(): readonly Place[] {
  const path = realPath('/etc/resolv.conf');
  return path?.startsWith('/run/') ? [{ path, view: 'read-only' }] : [];
}

/** Files and directories that hold credentials. */
export function secretPlaces(homes: readonly string[]): readonly Place[] {
  const ofHomes = homes.flatMap((home) => SECRETS_OF_HOME.map((name) => join(home, name)));
  return hidden([...ofHomes, ...SECRETS_OF_MACHINE]);
}

/** These paths, as far as they exist, hidden. */
export function hidden(paths: readonly string[]): readonly Place[] {
  return paths.flatMap((path): Place[] => {
    const real = realPath(path);
    if (real === undefined) return [];
    const isDirectory = statSync(real, { throwIfNoEntry: false })?.isDirectory() ?? false;
    return [{ path: real, view: isDirectory ? 'empty-directory' : 'empty-file' }];
  });
}

/** A path without links; undefined when there is nothing. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    // ENOENT: not there. EACCES: not for us, nor for what we start.
    return undefined;
  }
}
