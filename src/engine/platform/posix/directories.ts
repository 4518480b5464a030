import { constants, fstatSync } from 'node:fs';
import { lstat, realpath } from 'node:fs/promises';

import type { Directories } from '../contract/directories.js';

/**
 * Plain paths, which are checked when a directory is opened: without openat(2), what is moved or linked to the path after
 * that is followed.
 */
export const posixDirectories: Directories = {
  passFlags: constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW,
  rootOf: (_fd, path) => (path === '/' ? '/.' : path),
  placeOf: async (fd, path) => {
    const [real, there] = await Promise.all([realpath(path), lstat(path)]);
    const { dev, ino } = fstatSync(fd);
    return there.dev === dev && there.ino === ino ? real : undefined;
  },
};
