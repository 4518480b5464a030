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
