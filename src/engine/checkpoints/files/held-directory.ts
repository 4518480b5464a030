import { closeSync, constants, openSync, readdirSync } from 'node:fs';

import type { BytePath } from '../../../core/checkpoints/entry.js';
import { toBytes } from '../git/byte-path.js';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

/**
 * A directory that is held open. Names are looked up in this very directory, as openat(2) does, whatever is moved or
 * linked to its path meanwhile: so nobody who may write to the workspace can lead the adapter out of it. It goes by way
 * of /proc/self/fd, see proc(5), because Node.js has no openat.
 */
export class HeldDirectory implements Disposable {
  readonly #fd: number;

  private constructor(fd: number) {
    this.#fd = fd;
  }

  /** Opens a directory by its path, of which the last name may not be a link. */
  static open(path: string | Buffer): HeldDirectory {
    return new HeldDirectory(openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  }

  /** The descriptor, as long as the directory is held. */
  get fd(): number {
    return this.#fd;
  }

  /** A path to an entry of this directory, for calls of `node:fs` that do not follow a link there. */
  entry(name: BytePath): Buffer {
    return toBytes(`/proc/self/fd/${this.#fd}/${name}`);
  }

  /** Opens a directory in this one. */
  openDirectory(name: BytePath): HeldDirectory {
    return HeldDirectory.open(this.entry(name));
  }

  /** The names in it. */
  names(): BytePath[] {
    return readdirSync(`/proc/self/fd/${this.#fd}`, { encoding: 'latin1' });
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}

/** Where an entry is: its name, and the directory that has it. */
export interface Location {
  readonly directory: HeldDirectory;
  readonly name: BytePath;
}

/**
 * Finds entries below a directory by their paths without following a link. Neighbours are found fast: the directories on
 * the way to an entry stay open until the next, and those at and below an entry are let go of when it is located.
 */
export class OpenTree implements Disposable {
  readonly #root: HeldDirectory;
  #way: { readonly name: BytePath; readonly directory: HeldDirectory }[] = [];

  constructor(root: string) {
    this.#root = HeldDirectory.open(root);
  }

  get root(): HeldDirectory {
    return this.#root;
  }

  /** @throws the file system's error when something above the entry is no directory, or is not there. */
  locate(path: BytePath): Location {
    const names = path.split('/');
    const name = names.pop() ?? '';
    let depth = 0;
    while (depth < names.length && this.#way[depth]?.name === names[depth]) depth += 1;
    this.#leave(depth);
    for (const next of names.slice(depth)) {
      const directory = this.#last().openDirectory(next);
      this.#way.push({ name: next, directory });
    }
    return { directory: this.#last(), name };
  }

  /** Lets go of the directories on the way: to be called when one of them may have been replaced. */
  forget(): void {
    this.#leave(0);
  }

  [Symbol.dispose](): void {
    this.forget();
    this.#root[Symbol.dispose]();
  }

  #last(): HeldDirectory {
    return this.#way.at(-1)?.directory ?? this.#root;
  }

  #leave(depth: number): void {
    for (const { directory } of this.#way.splice(depth).reverse()) directory[Symbol.dispose]();
  }
}
