import { AdapterError } from '../../../core/errors.js';
import type { ByteReader } from './byte-reader.js';

/** Bytes of the length that begins a frame. */
const LENGTH_BYTES = 4;

/** Ends a content: without it, the content was broken off. */
export const LAST_FRAME: Buffer = Buffer.alloc(LENGTH_BYTES);

/** A piece of a content, with its length before it. */
export function frameOf(piece: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(LENGTH_BYTES + piece.length);
  frame.writeUInt32BE(piece.length);
  frame.set(piece, LENGTH_BYTES);
  return frame;
}

/**
 * The content in frames.
 * @throws AdapterError FILE_FAILED for one that was broken off
 */
export async function* contentIn(reader: ByteReader): AsyncGenerator<Buffer> {
  for (let left = await frameLength(reader); left > 0; left = await frameLength(reader)) {
    while (left > 0) {
      const piece = whole(await reader.upTo(left));
      left -= piece.length;
      yield piece;
    }
  }
}

const frameLength = async (reader: ByteReader): Promise<number> =>
  whole(await reader.exactly(LENGTH_BYTES)).readUInt32BE();

function whole(piece: Buffer | undefined): Buffer {
  if (piece) return piece;
  throw new AdapterError('FILE_FAILED', 'the content was broken off', { details: { errno: null } });
}
