import type { ErrorBody } from '../../../core/errors.js';
import type { FileJob, FileResult } from '../file-job.js';

/** First line of the program's standard input, as JSON; the content of a job that writes follows. */
export interface FileWorkRequest {
  readonly job: FileJob;
}

/** First line of its standard output, as JSON; the data of a read follows. */
export type FileWorkReply = { readonly result: FileResult } | { readonly error: ErrorBody };

const LINE_FEED = 10;

/**
 * Splits a message into its first line and what follows.
 * @throws SyntaxError when the first line is not JSON
 */
export function splitMessage(bytes: Buffer): { readonly head: unknown; readonly rest: Buffer } {
  const end = bytes.indexOf(LINE_FEED);
  if (end === -1) throw new SyntaxError('the message has no line end');
  return { head: JSON.parse(bytes.toString('utf8', 0, end)) as unknown, rest: bytes.subarray(end + 1) };
}

/** Joins a first line and what follows. */
export const joinMessage = (head: object, rest: Uint8Array): readonly [Buffer, Uint8Array] => [
  Buffer.from(`${JSON.stringify(head)}\n`),
  rest,
];
