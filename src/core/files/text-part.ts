import { AdapterError } from '../errors.js';

/** A part of a file that begins and ends between two characters. */
export interface TextPart {
  readonly text: string;
  /** Bytes before the first whole character. */
  readonly skipped: number;
  /** Bytes of the text. */
  readonly length: number;
}

/** Longest character of UTF-8, in bytes. */
const MAX_CHARACTER_BYTES = 4;

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Number of bytes that a character has, by its first byte. */
function lengthByFirst(byte: number): number {
  if (byte < 0xc0) return 1;
  if (byte < 0xe0) return 2;
  return byte < 0xf0 ? 3 : MAX_CHARACTER_BYTES;
}

/** Bytes at the end that begin a character and do not complete it. */
function unfinishedBytes(bytes: Uint8Array): number {
  for (let back = 1; back < MAX_CHARACTER_BYTES && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (!isContinuation(byte)) return lengthByFirst(byte) > back ? back : 0;
  }
  return 0;
}

/**
 * Decodes a part of a file. A part that begins or ends within a character is cut to whole ones.
 * @param isAtStart whether the part begins where the file does
 * @param isAtEnd whether the part ends where the file does
 * @throws AdapterError NOT_TEXT for bytes that are not UTF-8, and for NUL
 */
export function textPart(bytes: Uint8Array, isAtStart: boolean, isAtEnd: boolean): TextPart {
  let skipped = 0;
  while (!isAtStart && skipped < MAX_CHARACTER_BYTES - 1 && isContinuation(bytes[skipped])) skipped += 1;
  const cut = isAtEnd ? 0 : unfinishedBytes(bytes.subarray(skipped));
  const whole = bytes.subarray(skipped, bytes.length - cut);
  return { text: decodeText(whole), skipped, length: whole.length };
}

/**
 * Decodes text.
 * @throws AdapterError NOT_TEXT
 */
export function decodeText(bytes: Uint8Array): string {
  if (bytes.includes(0)) throw notText('it has NUL bytes');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // TypeError: not UTF-8.
    throw notText('it is not UTF-8');
  }
}

const notText = (why: string): AdapterError =>
  new AdapterError('NOT_TEXT', `the file is not text: ${why}; read it with encoding bytes or base64`);

/** Puts its number and a tab before each line. A line end at the end begins no further line. */
export function numberLines(text: string, first: number): string {
  if (text === '') return '';
  const lines = text.split('\n');
  const last = lines.at(-1) === '' ? lines.length - 1 : lines.length;
  return lines.map((line, index) => (index < last ? `${first + index}\t${line}` : line)).join('\n');
}
