import { existsSync } from 'node:fs';

import type { PlatformName } from '../../core/platform.js';
import type { Platform } from './platform.js';
import { linux } from './linux/linux.js';
import { posix } from './posix/posix.js';

const PLATFORMS: Readonly<Record<PlatformName, Platform>> = { linux, posix };

/** Returns a platform by its name. */
export const platformOf = (name: PlatformName): Platform => PLATFORMS[name];

/**
 * Returns the platform for this machine, or the one that is wanted.
 * @throws Error for `linux` where /proc is not that of Linux
 */
export function choosePlatform(wanted: PlatformName | 'auto' = 'auto'): Platform {
  const isLinux = process.platform === 'linux' && existsSync('/proc/self/stat');
  if (wanted === 'linux' && !isLinux) throw new Error('adapter.platform is linux, but there is no /proc of Linux here');
  if (wanted === 'auto') return isLinux ? linux : posix;
  return PLATFORMS[wanted];
}

/** Returns the identity of a process as the daemon with the identity `like` would give it: see `ProcessOrigins`. */
export function identityLike(like: string | null, pid: number): string | undefined {
  return platformLike(like).processes.identityOf(pid);
}

/** Whether a pid is still that of the process with this identity. */
export function isProcess(pid: number, identity: string): boolean {
  const platform = platformLike(identity);
  if (platform === linux) return linux.processes.identityOf(pid) === identity;
  const [machine, ownPid, startTicks] = identity.split('/');
  const isHere = machine === machineOf(identityLike(identity, process.pid));
  return isHere && ownPid === String(pid) && platform.processes.isAlive({ pid, startTicks: Number(startTicks) });
}

const machineOf = (identity: string | undefined) => identity?.split('/')[0];

/** Returns the platform of the process that has this identity. */
export const platformLike = (identity: string | null): Platform => (identity?.startsWith('posix-') ? posix : linux);
