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

import type { BytePath, Entry } from '../../../core/checkpoints.js';
import { AdapterError } from '../../../core/errors.js';
import { type BlobTarget, readBlobs } from '../git/blob-reader.js';
import type { Git } from '../git/git.js';
import type { HeldDirectory } from './held-directory.js';

/** Prefix of the adapter's own names in the workspace, which are not part of checkpoints. */
export const STAGING_PREFIX = '.shell-adapter-restore-';

/** Whether owners can be set, which requires root; other users own the files they create. */
export const CAN_SET_OWNERS = process.geteuid?.() === 0;

/**
 * A directory in the workspace, so that its entries can be renamed into place without a copy: it holds new files, and
 * those that were taken out.
 */
export class StagingDirectory implements Disposable {
  readonly #directory: HeldDirectory;

  private constructor(root: HeldDirectory, name: BytePath) {
    this.#directory = root.openDirectory(name);
  }

  /** Creates the directory in the workspace. */
  static make(root: HeldDirectory, name: BytePath): StagingDirectory {
    mkdirSync(root.entry(name), 0o700);
    return new StagingDirectory(root, name);
  }

  /** Opens the directory that an earlier run has created. */
  static open(root: HeldDirectory, name: BytePath): StagingDirectory {
    return new StagingDirectory(root, name);
  }

  /** Returns the path of an entry that was taken out of the workspace. */
  old(slot: number): Buffer {
    return this.#directory.entry(`old-${slot}`);
  }

  /** Returns the path of an entry that is to be put into the workspace. */
  fresh(slot: number): Buffer {
    return this.#directory.entry(`new-${slot}`);
  }

  /**
   * Creates the new files and links, with their permissions and owners.
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

  /** Whether an entry that was taken out is still here. */
  hasOld(slot: number): boolean {
    return lstatSync(this.old(slot), { throwIfNoEntry: false }) !== undefined;
  }

  /** Removes a staging directory with its files and links; does nothing when it does not exist. */
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
      // ENOSPC, for example: `end` is not called.
      closeSync(fd);
      throw error;
    }
  }

  end(): void {
    const fd = this.#fd ?? -1;
    const { mode, uid, gid } = this.#entry;
    if (CAN_SET_OWNERS) fchownSync(fd, uid, gid);
    // After the owner, because chown clears set-user-ID bits.
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
    // The link is created at the end, with its complete target.
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
