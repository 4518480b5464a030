import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from 'node:fs';

import type { BytePath, Entry } from '../../../core/checkpoints/entry.js';
import { AdapterError } from '../../../core/errors.js';
import { type BlobTarget, readBlobs } from '../git/blob-reader.js';
import type { Git } from '../git/git.js';
import type { HeldDirectory } from './held-directory.js';

/** Names in the workspace that begin so are the adapter's own, and no part of checkpoints. */
export const STAGING_PREFIX = '.shell-adapter-restore-';

/** Owners can be set by root alone; for all others what they make is theirs. */
export const CAN_SET_OWNERS = process.geteuid?.() === 0;

/**
 * A directory in the workspace, so that what is in it can be moved in place without being copied: it holds the files that
 * are to come, and those that were taken out.
 */
export class StagingDirectory implements Disposable {
  readonly #directory: HeldDirectory;

  private constructor(root: HeldDirectory, name: BytePath) {
    this.#directory = root.openDirectory(name);
  }

  /** Makes the directory in the workspace. */
  static make(root: HeldDirectory, name: BytePath): StagingDirectory {
    mkdirSync(root.entry(name), 0o700);
    return new StagingDirectory(root, name);
  }

  /** Opens the one that an earlier run has made. */
  static open(root: HeldDirectory, name: BytePath): StagingDirectory {
    return new StagingDirectory(root, name);
  }

  /** Path of what was taken out of the workspace. */
  old(slot: number): Buffer {
    return this.#directory.entry(`old-${slot}`);
  }

  /** Path of what is to be put into the workspace. */
  fresh(slot: number): Buffer {
    return this.#directory.entry(`new-${slot}`);
  }

  /**
   * Makes the files and links that are to come, with their permissions and owners.
   * @throws AdapterError CHECKPOINT_FAILED when the checkpoint is damaged; the file system's error
   */
  async fill(git: Git, contents: ReadonlyMap<number, Entry>): Promise<void> {
    const entries = [...contents];
    const objects = entries.map(([, { object }]) => object);
    await readBlobs(git, objects, (index) => {
      const [slot, entry] = entries[index] ?? unknownIndex(index);
      return entry.kind === 'link' ? new LinkTarget(this.fresh(slot), entry) : new FileTarget(this.fresh(slot), entry);
    });
  }

  /** Whether something that was taken out is still here. */
  hasOld(slot: number): boolean {
    return lstatSync(this.old(slot), { throwIfNoEntry: false }) !== undefined;
  }

  /** Removes a staging directory with all that is in it, which are files and links alone; nothing when there is none. */
  static remove(root: HeldDirectory, name: BytePath): void {
    if (lstatSync(root.entry(name), { throwIfNoEntry: false }) === undefined) return;
    {
      using directory = root.openDirectory(name);
      for (const left of directory.names()) unlinkSync(directory.entry(left));
    }
    rmdirSync(root.entry(name));
  }

  [Symbol.dispose](): void {
    this.#directory[Symbol.dispose]();
  }
}

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;

class FileTarget implements BlobTarget {
  readonly #path: Buffer;
  readonly #entry: Entry;
  #fd: number | undefined;

  constructor(path: Buffer, entry: Entry) {
    this.#path = path;
    this.#entry = entry;
  }

  begin(): void {
    this.#fd = openSync(this.#path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  }

  write(piece: Buffer): void {
    const fd = this.#fd ?? -1;
    try {
      for (let written = 0; written < piece.length;) written += writeSync(fd, piece, written);
    } catch (error) {
      // ENOSPC, for example: nothing more comes.
      closeSync(fd);
      throw error;
    }
  }

  end(): void {
    const fd = this.#fd ?? -1;
    const { mode, uid, gid } = this.#entry;
    if (CAN_SET_OWNERS) fchownSync(fd, uid, gid);
    // After the owner, whose change takes set-user-ID bits away.
    fchmodSync(fd, mode);
    closeSync(fd);
  }
}

class LinkTarget implements BlobTarget {
  readonly #path: Buffer;
  readonly #entry: Entry;
  readonly #pieces: Buffer[] = [];

  constructor(path: Buffer, entry: Entry) {
    this.#path = path;
    this.#entry = entry;
  }

  begin(): void {
    // All there is to it comes at the end.
  }

  write(piece: Buffer): void {
    this.#pieces.push(Buffer.from(piece));
  }

  end(): void {
    symlinkSync(Buffer.concat(this.#pieces), this.#path);
    if (CAN_SET_OWNERS) lchownSync(this.#path, this.#entry.uid, this.#entry.gid);
  }
}

function unknownIndex(index: number): never {
  throw new AdapterError('INTERNAL', `git has given content ${index}, which was not asked for`);
}
