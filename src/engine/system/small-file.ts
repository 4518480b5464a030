import { closeSync, openSync, readSync, writeFileSync } from 'node:fs';

/** Most files of /proc and of control groups are smaller; larger ones are read in pieces. */
const BUFFER_BYTES = 16 * 1024;

/** One buffer is enough: reads are synchronous. */
const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);

/**
 * Reads a kernel file, whose size is unknown: 7 µs, where readFileSync takes 50. Latin-1, so that no byte is lost.
 * @returns undefined when it cannot be read: ENOENT and ESRCH, because the process has ended; EACCES, because it
 * belongs to another user
 */
export function readSmallFile(path: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return undefined;
  }
  try {
    return readWhole(fd);
  } catch {
    // ESRCH: the process has ended between the two.
    return undefined;
  } finally {
    closeSync(fd);
  }
}

/**
 * Reads the first 16 KiB of a kernel file, and passes the bytes on before they are overwritten.
 * @returns undefined when it cannot be read, as above
 */
export function readBytes<T>(path: string, take: (bytes: Buffer, length: number) => T): T | undefined {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return undefined;
  }
  let length: number;
  try {
    length = readSync(fd, buffer, 0, BUFFER_BYTES, null);
  } catch {
    // ESRCH: the process has ended between the two.
    return undefined;
  } finally {
    closeSync(fd);
  }
  return length === 0 ? undefined : take(buffer, length);
}

function readWhole(fd: number): string {
  let text = '';
  for (;;) {
    const length = readSync(fd, buffer, 0, BUFFER_BYTES, null);
    if (length === 0) return text;
    text += buffer.toString('latin1', 0, length);
  }
}

/** Reads an open file of a few lines from its beginning; 2 µs. */
export const readSmallDescriptor = (fd: number): string =>
  buffer.toString('latin1', 0, readSync(fd, buffer, 0, BUFFER_BYTES, 0));

/** Writes a kernel file; returns false when that fails. */
export function tryWrite(path: string, value: string | number): boolean {
  try {
    writeFileSync(path, String(value));
    return true;
  } catch {
    // Missing, not permitted, or a value that is not accepted now.
    return false;
  }
}
