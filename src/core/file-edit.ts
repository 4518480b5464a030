import { AdapterError } from './errors.js';

interface Edit {
  readonly content: string;
  /** Where the replaced texts were, in UTF-16 units. */
  readonly positions: readonly number[];
}

/** Most line numbers that an error names. */
const MAX_NAMED_LINES = 10;

/**
 * Replaces an exact text.
 * @param all true to replace every occurrence; otherwise there has to be exactly one
 * @throws AdapterError TEXT_NOT_FOUND, TEXT_NOT_UNIQUE, INVALID_REQUEST when nothing would change
 */
export function replaceText(content: string, oldText: string, newText: string, all: boolean): Edit {
  if (oldText === newText) {
    throw new AdapterError('INVALID_REQUEST', 'edit_file: new_text is the same as old_text: nothing would change', {
      details: { field: 'new_text' },
    });
  }
  const positions = positionsOf(content, oldText);
  if (positions.length === 0) throw notFound(content, oldText);
  if (positions.length > 1 && !all) throw notUnique(content, positions);
  return { content: content.split(oldText).join(newText), positions };
}

function positionsOf(content: string, text: string): readonly number[] {
  const positions: number[] = [];
  for (let at = content.indexOf(text); at !== -1; at = content.indexOf(text, at + text.length)) positions.push(at);
  return positions;
}

function notFound(content: string, oldText: string): AdapterError {
  const hint = hintFor(content, oldText);
  return new AdapterError(
    'TEXT_NOT_FOUND',
    `old_text is not in the file${hint === undefined ? ': read it again, and give the text exactly' : `; ${hint}`}`,
    { details: { occurrences: 0 } },
  );
}

/** Tells an almost right text apart, which is what models give. */
function hintFor(content: string, oldText: string): string | undefined {
  if (content.includes('\r\n') && !oldText.includes('\r') && content.replaceAll('\r\n', '\n').includes(oldText)) {
    return 'it would be, if its lines ended in \\r\\n as those of the file do';
  }
  const withoutNumbers = oldText.replaceAll(/^\d+\t/gm, '');
  if (withoutNumbers !== oldText && content.includes(withoutNumbers)) {
    return 'it would be without the line numbers, which are not in the file';
  }
  const flat = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
  if (flat(oldText) !== '' && flat(content).includes(flat(oldText))) return 'only spaces or line ends differ';
  return undefined;
}

function notUnique(content: string, positions: readonly number[]): AdapterError {
  const lines = positions.slice(0, MAX_NAMED_LINES).map((at) => content.slice(0, at).split('\n').length);
  const more = positions.length > lines.length ? ' and more' : '';
  return new AdapterError(
    'TEXT_NOT_UNIQUE',
    `old_text is in the file ${positions.length} times (lines ${lines.join(', ')}${more}): give more text around it, or all: true`,
    { details: { occurrences: positions.length, lines } },
  );
}

/** A part of a file that begins and ends between two characters. */
interface TextPart {
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

/** Longest path in a request, in characters; the kernel's PATH_MAX is in bytes. */
export const MAX_PATH_LENGTH = 4096;

/** Most bytes that one `read_file` returns. */
export const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** Default length of a `read_file`, in bytes. */
export const DEFAULT_FILE_BYTES = 256 * 1024;

/** Largest file whose SHA-256 is computed for an answer, in bytes: about 20 ms of work. */
export const MAX_HASHED_BYTES = 16 * 1024 * 1024;

/** Largest file that can be edited, in bytes: it is held in memory with its new content. */
export const MAX_EDITED_BYTES = 8 * 1024 * 1024;

/** Longest diff in an answer, in characters. */
export const MAX_DIFF_CHARACTERS = 16_000;

/** Most entries that one `list_directory` returns. */
export const MAX_FILE_ENTRIES = 10_000;

/** Most lines that one `search_files` returns. */
export const MAX_FILE_MATCHES = 2000;

/** Default number of lines of a `search_files`. */
export const DEFAULT_FILE_MATCHES = 200;

/** Longest glob, in characters. */
export const MAX_GLOB_LENGTH = 1024;

/** Default number of entries of a `list_directory`. */
export const DEFAULT_FILE_ENTRIES = 1000;

export const ENTRY_TYPES = ['file', 'directory', 'link', 'other'] as const;

export type EntryType = (typeof ENTRY_TYPES)[number];

/** Longest time of one `find_files` or `search_files`, in milliseconds. */
export const MAX_FIND_MS = 5000;

/** Most bytes that one `search_files` searches. */
export const MAX_LINE_BYTES_SEARCHED = 512 * 1024 * 1024;

/** Largest file that `search_files` searches, in bytes. */
export const MAX_SEARCHED_FILE_BYTES = 32 * 1024 * 1024;

/** Why a search has stopped before its end. */
export const STOP_REASONS = ['limit', 'time', 'bytes'] as const;

export type StopReason = (typeof STOP_REASONS)[number];
