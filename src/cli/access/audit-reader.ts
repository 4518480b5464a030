import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';

import { type AuditRecord, readRecord } from '../../core/audit/chain.js';
import { type ListedFile, listStanding, readLines, sha256 } from '../../engine/audit/files.js';

/** Reads the records of an audit log, and those that come later, without reading again what has been read. */
export class AuditReader {
  readonly #path: string;
  /** Number of the last record that was read. */
  #seq = 0;
  /** Which file was read last, and how far. */
  #position = { ino: 0, bytes: 0 };
  #unreadable = 0;

  /** @param path of the newest file */
  constructor(path: string) {
    this.#path = path;
  }

  /** Lines so far that are no records, or not as they were written: what is wrong with them `verify` says. */
  get unreadable(): number {
    return this.#unreadable;
  }

  /** All that can be read as records and has not been yet, the oldest first. */
  async *next(): AsyncGenerator<AuditRecord> {
    let isDone = false;
    while (!isDone) isDone = yield* this.#walk();
  }

  /** Gives whether all files were read: those that get other names meanwhile, because the log is rotated, are looked for anew. */
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
      // It is just being written, or torn.
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

/** The file, if it still has the name. */
async function openAs({ path, ino }: ListedFile): Promise<FileHandle | undefined> {
  const handle = await open(path).catch(ifMissing);
  if (!handle || (await handle.stat()).ino === ino) return handle;
  await handle.close();
  return undefined;
}

function ifMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}
