import type { Readable } from 'node:stream';

import { AdapterError } from '../../../core/errors.js';
import type { Git } from './git.js';

/** Receives a content in pieces. */
export interface BlobTarget {
  begin(): void;
  write(piece: Buffer): void;
  end(): void;
}

const LINE_FEED = 0x0a;

/**
 * Reads contents from the repository, all of them through one git process, one after another.
 * @throws AdapterError CHECKPOINT_FAILED when one is missing; errors of a target
 */
export async function readBlobs(
  git: Git,
  objects: readonly string[],
  targetOf: (index: number) => BlobTarget,
): Promise<void> {
  if (objects.length === 0) return;
  const process = git.start(['cat-file', '--batch', '--buffer'], { output: 'pipe' });
  try {
    // Pipes have small buffers: requests and responses have to flow at the same time.
    process.stdin.end(`${objects.join('\n')}\n`);
    const parser = new BatchParser(objects, targetOf);
    for await (const chunk of process.stdout as Readable as AsyncIterable<Buffer>) parser.push(chunk);
    await process.check();
    parser.finish();
  } catch (error) {
    process.kill();
    await process.ended;
    throw error;
  }
}

/** Source: git-cat-file(1), batch output: `OBJECT TYPE SIZE LF CONTENT LF` for each, `OBJECT missing LF` without it. */
class BatchParser {
  readonly #objects: readonly string[];
  readonly #targetOf: (index: number) => BlobTarget;
  #index = 0;
  #header: Buffer = Buffer.alloc(0);
  /** Remaining bytes of the content; undefined while a header is expected. */
  #missing: number | undefined;
  #target: BlobTarget | undefined;

  constructor(objects: readonly string[], targetOf: (index: number) => BlobTarget) {
    this.#objects = objects;
    this.#targetOf = targetOf;
  }

  push(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0) rest = this.#missing === undefined ? this.#readHeader(rest) : this.#readContent(rest);
  }

  finish(): void {
    if (this.#index < this.#objects.length) throw damaged(this.#objects[this.#index] ?? '');
  }

  #readHeader(bytes: Buffer): Buffer {
    const end = bytes.indexOf(LINE_FEED);
    if (end === -1) {
      this.#header = Buffer.concat([this.#header, bytes]);
      return Buffer.alloc(0);
    }
    const header = Buffer.concat([this.#header, bytes.subarray(0, end)]).toString();
    this.#header = Buffer.alloc(0);
    const [, type, size] = header.split(' ');
    if (type !== 'blob') throw damaged(this.#objects[this.#index] ?? '');
    this.#missing = Number(size);
    this.#target = this.#targetOf(this.#index);
    this.#target.begin();
    return bytes.subarray(end + 1);
  }

  #readContent(bytes: Buffer): Buffer {
    const missing = this.#missing ?? 0;
    const piece = bytes.subarray(0, missing);
    if (piece.length > 0) this.#target?.write(piece);
    this.#missing = missing - piece.length;
    if (bytes.length === piece.length) return Buffer.alloc(0);
    // The line feed after the content.
    this.#target?.end();
    this.#target = undefined;
    this.#missing = undefined;
    this.#index += 1;
    return bytes.subarray(piece.length + 1);
  }
}

const damaged = (object: string): AdapterError =>
  new AdapterError('CHECKPOINT_FAILED', `the checkpoint is damaged: content ${object} is missing`);
