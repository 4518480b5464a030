import { closeSync, openSync, readSync, writeFileSync } from 'node:fs';

/** Most files of /proc and of control groups are smaller; larger ones are read in pieces. */
const BUFFER_BYTES = 16 * 1024;

/** One buffer serves all: reads are synchronous. */
const buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);

/**
 * Reads a file of the kernel's, whose size is not told before: 7 µs, where readFileSync takes 50. Latin-1, so that nothing
 * is lost.
 * @returns undefined when it cannot be read: ENOENT and ESRCH, because the process has gone; EACCES, because it is not ours
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

function readWhole(fd: number): string {
  let text = '';
  for (;;) {
    const length = readSync(fd, buffer, 0, BUFFER_BYTES, null);
    if (length === 0) return text;
    text += buffer.toString('latin1', 0, length);
  }
}

/** Reads the number in an open file that is no longer than a line, from its beginning; 2 µs. */
export function readNumber(fd: number): number {
  return Number(buffer.toString('latin1', 0, readSync(fd, buffer, 0, 64, 0)));
}

/** Writes a file of the kernel's; false when that is refused. */
export function tryWrite(path: string, value: string | number): boolean {
  try {
    writeFileSync(path, String(value));
    return true;
  } catch {
    // Not there, not ours, or not a value that it takes now.
    return false;
  }
}
