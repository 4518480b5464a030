import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';

import { type AuditRecord, readRecord } from '../../core/audit/chain.js';
import { type ListedFile, listStanding, readLines, sha256 } from '../../engine/audit/files.js';

/** Reads the records of an audit log incrementally: each call returns only records that it has not returned before. */
export class AuditReader {
  readonly #path: string;
  /** Number of the last record that was read. */
  #seq = 0;
  /** Inode of the file that was read last, and the position in it. */
  #position = { ino: 0, bytes: 0 };
  #unreadable = 0;

  /** @param path path of the newest file */
  constructor(path: string) {
    this.#path = path;
  }

  /** Number of invalid lines so far: unparsable, or changed after they were written. `verify` reports the details. */
  get unreadable(): number {
    return this.#unreadable;
  }

  /** Yields all new valid records, the oldest first. */
  async *next(): AsyncGenerator<AuditRecord> {
    let isDone = false;
    while (!isDone) isDone = yield* this.#walk();
  }

  /** Returns whether all files were read. A file that a rotation renames in the meantime is located again. */
  async *#walk(): AsyncGenerator<AuditRecord, boolean> {
    const files = listStanding(this.#path);
    const known = files.findIndex(({ ino }) => ino === this.#position.ino);
    for (const file of files.slice(Math.max(0, known))) {
      const handle = await openAs(file);
      if (!handle) return false;
      const isKnown = file.ino === this.#position.ino && file.size >= this.#position.bytes;
      if (!isKnown) this.#position = { ino: file.ino, bytes: 0 };
      yield* this.#read(handle);
    }
    return true;
  }

  async *#read(handle: FileHandle): AsyncGenerator<AuditRecord> {
    const after = this.#seq;
    for await (const { text, isWhole, bytes } of readLines(handle, this.#position.bytes)) {
      // The line is incomplete: it is still being written, or was torn.
      if (!isWhole) return;
      this.#position.bytes += bytes + 1;
      const record = readRecord(text, sha256);
      if (typeof record === 'string') this.#unreadable += 1;
      else if (record.seq > after) {
        this.#seq = record.seq;
        yield record;
      }
    }
  }
}

/** Opens the file unless it was renamed. */
async function openAs({ path, ino }: ListedFile): Promise<FileHandle | undefined> {
  const handle = await open(path).catch(ifMissing);
  if (!handle || (await handle.stat()).ino === ino) return handle;
  await handle.close();
  return undefined;
}

function ifMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
