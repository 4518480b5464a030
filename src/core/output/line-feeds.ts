/** The byte that ends a line. */
export const LINE_FEED = 0x0a;

/** Words whose lanes are summed before a lane could overflow: one more than a byte holds. */
const BLOCK_WORDS = 255;

/** Number of line feeds in the bytes, four bytes at a time. */
export function countLineFeeds(bytes: Uint8Array): number {
  // Words begin at multiples of four bytes.
  const prologue = -bytes.byteOffset & 3;
  if (bytes.length < prologue) return bytes.filter((byte) => byte === LINE_FEED).length;
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + prologue, (bytes.length - prologue) >> 2);
  let count = 0;
  for (let i = 0; i < prologue; i++) if (bytes[i] === LINE_FEED) count++;
  for (let i = prologue + words.length * 4; i < bytes.length; i++) if (bytes[i] === LINE_FEED) count++;
  for (let block = 0; block < words.length; block += BLOCK_WORDS) {
    const end = Math.min(block + BLOCK_WORDS, words.length);
    let lanes = 0;
    for (let i = block; i < end; i++) {
      // A lane is zero where the byte is a line feed: then, and only then, its highest bit stays clear.
      const lane = (words[i] ?? 0) ^ 0x0a0a0a0a;
      const filled = ((lane & 0x7f7f7f7f) + 0x7f7f7f7f) | lane;
      lanes = (lanes + ((~filled >>> 7) & 0x01010101)) | 0;
    }
    count += (lanes & 0xff) + ((lanes >>> 8) & 0xff) + ((lanes >>> 16) & 0xff) + (lanes >>> 24);
  }
  return count;
}

/** Number of lines in the bytes; a last one without its end counts. */
export const countLines = (bytes: Uint8Array): number =>
  countLineFeeds(bytes) + (bytes.length > 0 && bytes[bytes.length - 1] !== LINE_FEED ? 1 : 0);

/** Offset after the first `count` lines, or the length when there are fewer. */
export function endOfFirstLines(bytes: Uint8Array, count: number): number {
  let end = 0;
  for (let i = 0; i < count; i++) {
    const at = bytes.indexOf(LINE_FEED, end);
    if (at === -1) return bytes.length;
    end = at + 1;
  }
  return end;
}

/** Offset at which the last `count` lines begin, or 0 when there are fewer. */
export function startOfLastLines(bytes: Uint8Array, count: number): number {
  if (count === 0) return bytes.length;
  // The feed at the very end belongs to the last line.
  let at = bytes.length - 1;
  for (let i = 0; i < count; i++) {
    if (at <= 0) return 0;
    at = bytes.lastIndexOf(LINE_FEED, at - 1);
    if (at === -1) return 0;
  }
  return at + 1;
}
