import { createReadStream, writeSync } from 'node:fs';

import { AdapterError, type ErrorBody } from '../../core/errors.js';
import { linuxDirectories } from '../platform/linux/linux.js';
import type { FileJob } from './file-job.js';
import { performerWith } from './perform.js';
import {
  ByteReader,
  contentIn,
  type FileJobRequest,
  type FileWorkReply,
  type FileWorkRequest,
  headLine,
  joinMessage,
  type SentRange,
} from './messages.js';

/*
 * The program that works on files in the sandbox of a session, or as another user: so that the kernel allows it what it allows the commands
 * there.
 */

const STDIN = 0;
const STDOUT = 1;
/** Bytes that are read from the daemon at once. */
const READ_BYTES = 256 * 1024;
const NO_DATA = new Uint8Array();
/** Sandboxes and other users are on Linux alone. */
const here = performerWith(linuxDirectories);

void work();

async function work(): Promise<void> {
  const input = new ByteReader(createReadStream('', { fd: STDIN, highWaterMark: READ_BYTES }));
  try {
    const request = JSON.parse((await input.line()) ?? '') as FileWorkRequest;
    if ('send' in request) await send(request, input);
    else if ('watch' in request) await watch(request, input);
    else if ('receive' in request) await receive(request, input);
    else await performAll(request, input);
  } catch (error) {
    answer({ error: bodyOf(error) });
  }
  // The input may still be open.
  process.exit();
}

function bodyOf(error: unknown): ErrorBody {
  const failure =
    error instanceof AdapterError ? error : new AdapterError('RESOURCE_EXHAUSTED', (error as Error).message);
  return failure.toBody();
}

/** Does jobs until the input ends. */
async function performAll(first: FileJobRequest, input: ByteReader): Promise<void> {
  for (let request = first; ;) {
    const content = await input.exactly(request.length);
    if (!content) return;
    await perform(request.job, content);
    const line = await input.line();
    if (line === undefined) return;
    request = JSON.parse(line) as FileJobRequest;
  }
}

async function perform(job: FileJob, content: Uint8Array): Promise<void> {
  try {
    const result = await here.perform(job, content);
    if ('data' in result) answer({ result: { ...result, data: NO_DATA }, length: result.data.length }, result.data);
    else answer({ result, length: 0 });
  } catch (error) {
    answer({ error: bodyOf(error) });
  }
}

/** Watches paths until the input ends. */
async function watch({ watch: job }: Extract<FileWorkRequest, { watch: unknown }>, input: ByteReader): Promise<void> {
  const early: Buffer[] = [];
  let write = (line: Buffer): void => {
    early.push(line);
  };
  const watching = await here.watch(job, (batch) => {
    write(headLine(batch));
  });
  answer({ watching: true });
  for (const line of early) writeAll(line);
  write = writeAll;
  await input.rest();
  await watching[Symbol.asyncDispose]();
}

/** Receives a file, and the SHA-256 of its whole if it follows. */
async function receive(
  { receive: job, digest }: Extract<FileWorkRequest, { receive: unknown }>,
  input: ByteReader,
): Promise<void> {
  const later = digest === true ? async () => (await input.line()) || undefined : undefined;
  answer({ result: await here.receive(job, contentIn(input), later), length: 0 });
}

/** Sends a file. An error after the first line shows by the end: the range is not complete. */
async function send({ send: at }: Extract<FileWorkRequest, { send: unknown }>, input: ByteReader): Promise<void> {
  await using file = await here.send(at);
  const { size, mtimeMs, version } = file;
  writeAll(headLine({ sent: { size, mtimeMs, version } } satisfies FileWorkReply));
  const line = await input.line();
  if (line === undefined) return;
  const { offset, length, digest } = JSON.parse(line) as SentRange;
  const onDigest = (sha256 = '') => {
    writeAll(Buffer.from(`${sha256}\n`));
  };
  try {
    for await (const piece of file.read(offset, length, digest === true ? onDigest : undefined)) writeAll(piece);
  } catch {
    // Shorter than the range.
  }
}

function answer(reply: FileWorkReply, data: Uint8Array = NO_DATA): void {
  for (const part of joinMessage(reply, data)) writeAll(part);
}

function writeAll(bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) written += writeSync(STDOUT, bytes, written);
}
