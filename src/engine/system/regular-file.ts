import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/**
 * Reads the beginning of a file that others may have prepared: a pipe would block the daemon, and a device has no end.
 * @param maxBytes of a larger file, no more than this is read
 * @returns undefined when it is no regular file, or cannot be read
 */
export function readRegularFile(path: string, maxBytes: number): Buffer | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    const stat = fstatSync(fd);
    if (!stat.isFile()) return undefined;
    const buffer = Buffer.alloc(Math.min(stat.size, maxBytes));
    return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, 0));
  } catch {
    // ENOENT; EACCES; ENXIO: a socket.
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
