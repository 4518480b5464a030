import { AdapterError } from '../../core/errors.js';
import { MAX_FILE_BYTES } from '../../core/file-edit.js';
import type { LateDigest, OnDigest, SentFile } from '../../engine/files/file-job.js';
import { OutputMask } from '../../engine/output/output-mask.js';
import type { FilePlace } from './file-place.js';
import type { UploadRequest, WriteConditions, Written } from './plan-content.js';

/** Bytes of an upload of unknown length after which the disk is looked at again. */
const ROOM_STEP_BYTES = 16 * 1024 * 1024;

/** An upload. */
export interface Upload {
  readonly request: UploadRequest;
  readonly conditions: WriteConditions;
  /** Bytes of the content; undefined when they are not known before its end. */
  readonly size: number | undefined;
  /** Read once, and to its end only if all is well. */
  readonly content: AsyncIterable<Uint8Array>;
  /** SHA-256 of the whole file, if it comes after the content. */
  readonly digest?: LateDigest | undefined;
}

/** A file that is open to be sent; its receiver closes it. */
export type Download = SentFile;

/** What came of an upload. */
export interface Uploaded {
  readonly answer: Written;
  /** See `versionOf`; undefined when nothing was written, or once it was confirmed. */
  readonly version: string | undefined;
}

/** The content of an upload, while there is room for it. */
export async function* withRoom(
  { content, size = 0, conditions: { resume } }: Upload,
  place: FilePlace,
): AsyncGenerator<Uint8Array> {
  let received = resume?.from ?? 0;
  let checked = received + size;
  for await (const piece of content) {
    received += piece.length;
    if (received > checked) {
      place.assertRoom(ROOM_STEP_BYTES, checked);
      checked += ROOM_STEP_BYTES;
    }
    yield piece;
  }
}

/**
 * The content of an upload that has to be confirmed, whole: an approval is for one content.
 * @throws AdapterError FILE_TOO_LARGE
 */
export async function gather({ content, size = 0, conditions: { resume } }: Upload): Promise<Uint8Array> {
  if (resume && resume.from > 0) {
    throw new AdapterError(
      'INVALID_REQUEST',
      'it has to be confirmed, and an approval is for a whole content: leave out resume',
    );
  }
  const pieces: Uint8Array[] = [];
  let received = 0;
  if (size > MAX_FILE_BYTES) throw tooLargeToConfirm(size);
  for await (const piece of content) {
    received += piece.length;
    if (received > MAX_FILE_BYTES) throw tooLargeToConfirm(received);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

const tooLargeToConfirm = (size: number): AdapterError => {
  const message = `what has to be confirmed may have ${MAX_FILE_BYTES} bytes at most: upload it elsewhere, and move it by move_path`;
  return new AdapterError('FILE_TOO_LARGE', message, { details: { size, max: MAX_FILE_BYTES } });
};

/**
 * Masks secrets in what is sent of a file by as many asterisks, so that sizes and ranges stay what they are. The bytes
 * around a range are looked at too.
 */
export function maskedFile(file: SentFile, patterns: readonly string[]): SentFile {
  if (patterns.length === 0) return file;
  const around = Math.max(...patterns.map((pattern) => Buffer.byteLength(pattern))) - 1;
  return {
    ...file,
    read: (offset, length, onDigest?: OnDigest) => {
      const from = Math.max(0, offset - around);
      const to = Math.min(file.size, offset + length + around);
      const masked = maskPieces(file.read(from, to - from, onDigest), patterns);
      return part(masked, offset - from, length);
    },
    [Symbol.asyncDispose]: () => file[Symbol.asyncDispose](),
  };
}

async function* maskPieces(pieces: AsyncIterable<Uint8Array>, patterns: readonly string[]): AsyncGenerator<Uint8Array> {
  const mask = new OutputMask(patterns, 'each-byte');
  for await (const { buffer, byteOffset, length } of pieces) yield mask.push(Buffer.from(buffer, byteOffset, length));
  yield mask.flush();
}

async function* part(pieces: AsyncIterable<Uint8Array>, skipped: number, length: number): AsyncGenerator<Uint8Array> {
  let from = skipped;
  let left = length;
  for await (const piece of pieces) {
    const shown = piece.subarray(from, from + left);
    from = Math.max(0, from - piece.length);
    left -= shown.length;
    if (shown.length > 0) yield shown;
  }
}
