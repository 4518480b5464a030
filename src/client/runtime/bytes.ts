import { completeLength } from '../../core/output/utf8.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Size of a piece of output in bytes; text is counted as UTF-8. */
export const byteLength = (data: string | Uint8Array): number =>
  typeof data === 'string' ? encoder.encode(data).length : data.length;

/** Returns text if the bytes are UTF-8, else the bytes. */
export function textOrBytes(bytes: Uint8Array): string | Uint8Array {
  try {
    return decoder.decode(bytes);
  } catch {
    // A fatal decoder throws a TypeError: the bytes are not UTF-8.
    return bytes;
  }
}

/** Removes an incomplete character at the end of the bytes. */
export const wholeCharacters = (bytes: Uint8Array): Uint8Array => bytes.subarray(0, completeLength(bytes));

/**
 * Converts the attachment of a message, its `data`, to a plain Uint8Array: Socket.IO provides an ArrayBuffer in
 * browsers and a Buffer in Node.js. Other messages are returned unchanged.
 */
export function withPlainBytes(message: unknown): unknown {
  if (typeof message !== 'object' || message === null) return message;
  const { data } = message as { readonly data?: unknown };
  if (data instanceof ArrayBuffer) return { ...message, data: new Uint8Array(data) };
  if (!ArrayBuffer.isView(data)) return message;
  return { ...message, data: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) };
}
