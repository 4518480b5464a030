import type { ErrorBody } from '../../../core/errors.js';
import type { FileJob, FileJobOf, FileResult, SentFile, Target, WatchJob } from '../file-job.js';

/**
 * First line of the program's standard input, as JSON. After a `job`, its content follows, of `length` bytes, and then the line of the next
 * job, until the input ends; after `receive`, in frames, with `digest` followed by the line of the SHA-256. After `send`, the range follows as another line, once the reply was read. After
 * `watch`, the batches are lines of the output, until the input ends.
 */
export type FileWorkRequest =
  | FileJobRequest
  | { readonly receive: FileJobOf<'write'>; readonly digest?: boolean }
  | { readonly send: Target }
  | { readonly watch: WatchJob };

/** A job, of which the content follows. */
export interface FileJobRequest {
  readonly job: FileJob;
  readonly length: number;
}

/** The range of a file that is sent, as JSON. With `digest`, a line with the SHA-256 of the whole file follows it. */
export interface SentRange {
  readonly offset: number;
  readonly length: number;
  readonly digest?: boolean;
}

/** Facts about a file that is sent. */
type SentFacts = Pick<SentFile, 'size' | 'mtimeMs' | 'version'>;

/** First line of its standard output, as JSON; the data of a result, of `length` bytes, or of a range, follows. */
export type FileWorkReply =
  | { readonly result: FileResult; readonly length: number }
  | { readonly sent: SentFacts }
  | { readonly watching: true }
  | { readonly error: ErrorBody };

/** A first line. */
export const headLine = (head: object): Buffer => Buffer.from(`${JSON.stringify(head)}\n`);

/** Joins a first line and what follows. */
export const joinMessage = (head: object, rest: Uint8Array): readonly [Buffer, Uint8Array] => [headLine(head), rest];
