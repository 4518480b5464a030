import { constants } from 'node:fs';
import { readlink } from 'node:fs/promises';

import type { Directories } from '../contract/directories.js';

/** Opens only the place of a directory: open(2). Node.js has no name for it. */
const O_PATH = 0o10000000;

/** Paths through /proc/self/fd, see proc(5), because Node.js has no openat(2). */
export const linuxDirectories: Directories = {
  passFlags: O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW,
  rootOf: (fd) => `/proc/self/fd/${fd}`,
  placeOf: (fd) => readlink(`/proc/self/fd/${fd}`),
};
