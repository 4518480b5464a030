import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';

/** A file that others append to. */
export class GrowingFile {
  readonly #path: string;
  #offset = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** What has been added since the last look. */
  read(): string {
    if (!existsSync(this.#path)) return '';
    const file = openSync(this.#path, 'r');
    try {
      const added = Buffer.alloc(Math.max(0, fstatSync(file).size - this.#offset));
      const count = readSync(file, added, 0, added.length, this.#offset);
      this.#offset += count;
      return added.toString('utf8', 0, count);
    } finally {
      closeSync(file);
    }
  }
}
