import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

import type { Directories } from '../platform/contract/directories.js';

const LIST_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** A directory that is held open. */
export class OpenDirectory implements AsyncDisposable {
  /** A path to the directory, while it is open. */
  readonly root: string;
  readonly #handle: FileHandle;
  readonly #path: string;
  readonly #directories: Directories;

  private constructor(handle: FileHandle, path: string, directories: Directories) {
    this.#handle = handle;
    this.#path = path;
    this.#directories = directories;
    this.root = directories.rootOf(handle.fd, path);
  }

  /**
   * Opens a directory to list it; the last part of its path must not be a link.
   * @throws system errors
   */
  static async open(path: string, directories: Directories): Promise<OpenDirectory> {
    return new OpenDirectory(await open(path, LIST_FLAGS), path, directories);
  }

  /** The same, to pass it: where possible, no permission to list it is needed. */
  static async pass(path: string, directories: Directories): Promise<OpenDirectory> {
    return new OpenDirectory(await open(path, directories.passFlags), path, directories);
  }

  /** Returns the path of one of its entries, for calls that do not follow a link there. */
  entry(name: string): string {
    return `${this.root}/${name}`;
  }

  /** Opens a directory in it to list it. */
  openInner(name: string): Promise<OpenDirectory> {
    return OpenDirectory.open(this.entry(name), this.#directories);
  }

  /** Whether it is at the path where it was opened, without links. */
  async isInPlace(): Promise<boolean> {
    return (await this.#directories.placeOf(this.#handle.fd, this.#path)) === this.#path;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}
