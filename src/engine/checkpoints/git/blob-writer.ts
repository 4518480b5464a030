import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';

import type { Git } from './git.js';

/** Bytes that are collected before they are written to git. */
const BATCH_BYTES = 256 * 1024;

/** Writes contents to the repository unchanged, all of them through one git process, into one pack file. */
export class BlobWriter {
  readonly #git: Git;
  #process: ReturnType<Git['start']> | undefined;
  #hasEnded = false;
  #batch: Buffer[] = [];
  #batchBytes = 0;

  constructor(git: Git) {
    this.#git = git;
  }

  /** Writes a content; returns the id of its blob. */
  async write(content: Buffer): Promise<string> {
    await this.#push(header(content.length));
    await this.#push(content);
    return blobHash(content.length).update(content).digest('hex');
  }

  /**
   * Writes a content of a known size piece by piece; returns the id of its blob. If it turns out to be shorter, the
   * written data is meaningless and the result is undefined.
   */
  async stream(size: number, pieces: Iterable<Buffer>): Promise<string | undefined> {
    const hash = blobHash(size);
    await this.#push(header(size));
    let missing = size;
    for (const piece of pieces) {
      const fitting = piece.subarray(0, missing);
      missing -= fitting.length;
      hash.update(fitting);
      await this.#push(fitting);
      if (missing === 0) break;
    }
    if (missing === 0) return hash.digest('hex');
    // The announced size must be filled.
    while (missing > 0) {
      const filler = Buffer.alloc(Math.min(missing, BATCH_BYTES));
      missing -= filler.length;
      await this.#push(filler);
    }
    return undefined;
  }

  /**
   * Finishes the pack with everything that was written.
   * @throws AdapterError CHECKPOINT_FAILED, RESOURCE_EXHAUSTED, GIT_NOT_FOUND
   */
  async finish(): Promise<void> {
    if (!this.#process && this.#batchBytes === 0) return;
    await this.#push(Buffer.from('done\n'));
    await this.#flush();
    const { stdin, check } = this.#started();
    stdin.end();
    await check();
  }

  /** Kills git, if it still runs; nothing is kept. */
  async abort(): Promise<void> {
    this.#process?.kill();
    await this.#process?.ended;
  }

  async #push(bytes: Buffer): Promise<void> {
    this.#batch.push(bytes);
    this.#batchBytes += bytes.length;
    if (this.#batchBytes >= BATCH_BYTES) await this.#flush();
  }

  async #flush(): Promise<void> {
    const batch = Buffer.concat(this.#batch);
    this.#batch = [];
    this.#batchBytes = 0;
    const { stdin, ended, check } = this.#started();
    // `check` reports why git has ended.
    if (this.#hasEnded) await check();
    if (!stdin.write(batch)) await Promise.race([once(stdin, 'drain'), ended]);
  }

  #started(): ReturnType<Git['start']> {
    if (this.#process) return this.#process;
    const process = this.#git.start(['fast-import', '--quiet', '--done'], { output: 'ignore' });
    void process.ended.then(() => {
      this.#hasEnded = true;
    });
    this.#process = process;
    return process;
  }
}

/** Source: the data command of git-fast-import(1); the optional line feed after the data is left out. */
const header = (size: number): Buffer => Buffer.from(`blob\ndata ${size}\n`);

/** Begins git's id of a content of `size` bytes: what the content is added to, and its digest in hexadecimal. */
export const blobHash = (size: number): Hash => createHash('sha1').update(`blob ${size}\0`);
