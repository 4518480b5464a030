import { open } from 'node:fs/promises';

import { readRange } from '../files/open-file.js';

/** Size of the blocks that are read from the end, in bytes. */
const BLOCK_BYTES = 256 * 1024;

const LF = 10;

/** A line, read from the end of its file. */
export interface BackwardLine {
  readonly text: string;
  /** False for the last line of the file if it has no end: it is being written, or was torn. */
  readonly isWhole: boolean;
}

/**
 * Yields the lines of a file, the last one first. Lines that are appended meanwhile are left out. Memory is bounded by
 * a block and the longest line. Yields nothing for a file that is gone.
 * @throws the file system's error
 */
export async function* readLinesBackwards(path: string): AsyncGenerator<BackwardLine> {
  const handle = await open(path).catch(ifMissing);
  if (!handle) return;
  try {
    let { size: position } = await handle.stat();
    let rest: Buffer = Buffer.alloc(0);
    let isWhole = false;
    while (position > 0) {
      const length = Math.min(BLOCK_BYTES, position);
      position -= length;
      rest = Buffer.concat([await readRange(handle, position, length), rest]);
      // The first line may begin in the block before.
      const lines = splitLines(rest);
      rest = lines.shift() ?? rest;
      for (const line of lines.reverse()) {
        if (line.length > 0 || isWhole) yield { text: line.toString(), isWhole };
        isWhole = true;
      }
    }
    if (rest.length > 0) yield { text: rest.toString(), isWhole };
  } finally {
    await handle.close();
  }
}

/** Splits at line ends. The last part is empty when the text ends with a line end. */
function splitLines(text: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let from = 0;
  for (let end = text.indexOf(LF); end !== -1; end = text.indexOf(LF, from)) {
    lines.push(text.subarray(from, end));
    from = end + 1;
  }
  lines.push(text.subarray(from));
  return lines;
}

function ifMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
