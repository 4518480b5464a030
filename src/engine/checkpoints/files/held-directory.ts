import { closeSync, constants, openSync, readdirSync } from 'node:fs';

import type { BytePath } from '../../../core/checkpoints.js';
import type { Directories } from '../../platform/platform.js';
import { fromText, toBytes } from '../git/git.js';

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

/**
 * An open directory. On Linux, names are looked up in exactly this directory, as openat(2) does, whatever is moved or
 * linked to its path meanwhile: a process that may write to the workspace cannot redirect the adapter out of it.
 */
export class HeldDirectory implements Disposable {
  readonly #fd: number;
  readonly #root: BytePath;
  readonly #directories: Directories;

  private constructor(path: BytePath, directories: Directories) {
    this.#fd = openSync(toBytes(path), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    this.#root = directories.rootOf(this.#fd, path);
    this.#directories = directories;
  }

  /** Opens a directory by its path, whose last component must not be a link. */
  static open(path: string, directories: Directories): HeldDirectory {
    return new HeldDirectory(fromText(path), directories);
  }

  /** The file descriptor, valid as long as the directory is held. */
  get fd(): number {
    return this.#fd;
  }

  /** Returns a path to an entry of this directory, for calls of `node:fs` that do not follow a link there. */
  entry(name: BytePath): Buffer {
    return toBytes(`${this.#root}/${name}`);
  }

  /** Opens a directory in this one. */
  openDirectory(name: BytePath): HeldDirectory {
    return new HeldDirectory(`${this.#root}/${name}`, this.#directories);
  }

  /** Returns the names in it. */
  names(): BytePath[] {
    return readdirSync(toBytes(this.#root), { encoding: 'latin1' });
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}

/** Location of an entry: its name, and the directory that contains it. */
export interface Location {
  readonly directory: HeldDirectory;
  readonly name: BytePath;
}

/**
 * Finds entries below a directory by their paths without following links. Lookups of neighbours are fast: the
 * directories above an entry stay open until the next lookup; those at and below an entry are closed when it is
 * located.
 */
export class OpenTree implements Disposable {
  readonly #root: HeldDirectory;
  #opened: { readonly name: BytePath; readonly directory: HeldDirectory }[] = [];

  constructor(root: string, directories: Directories) {
    this.#root = HeldDirectory.open(root, directories);
  }

  /** The directory at the top; it stays open until the tree is disposed. */
  get root(): HeldDirectory {
    return this.#root;
  }

  /** @throws the file system's error when something above the entry is not a directory, or does not exist. */
  locate(path: BytePath): Location {
    const names = path.split('/');
    const name = names.pop() ?? '';
    let depth = 0;
    while (depth < names.length && this.#opened[depth]?.name === names[depth]) depth += 1;
    this.#closeBelow(depth);
    for (const next of names.slice(depth)) {
      const directory = this.#last().openDirectory(next);
      this.#opened.push({ name: next, directory });
    }
    return { directory: this.#last(), name };
  }

  /** Closes the open directories: must be called when one of them may have been replaced. */
  forget(): void {
    this.#closeBelow(0);
  }

  [Symbol.dispose](): void {
    this.forget();
    this.#root[Symbol.dispose]();
  }

  #last(): HeldDirectory {
    return this.#opened.at(-1)?.directory ?? this.#root;
  }

  #closeBelow(depth: number): void {
    for (const { directory } of this.#opened.splice(depth).reverse()) directory[Symbol.dispose]();
  }
}
