import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from 'node:fs';

import type { SkipReason } from '../../../core/checkpoints/entry.js';
import { toBytes } from '../git/byte-path.js';
import { blobHash, type BlobWriter } from '../git/blob-writer.js';
import type { Location } from '../files/held-directory.js';
import { factsOf, reasonOf, type StatFacts } from '../files/walk.js';

/** Read size for larger files. */
const PIECE_BYTES = 1024 * 1024;
/** Attempts at reading a file that changes meanwhile. */
const ATTEMPTS = 3;
/** Two changes of a file within a tick of the kernel's clock, 10 ms at most, have the same time. */
const TICK_MS = 10;

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;

/**
 * A stored content with the state of its file; or the reason why it could not be stored; or undefined when the file is
 * gone.
 */
export type Stored =
  | { readonly object: string; readonly stat: StatFacts; readonly size: number }
  | { readonly reason: SkipReason }
  | undefined;

/** Stores the target of a symbolic link. */
export async function storeLink({ directory, name }: Location, writer: BlobWriter, stat: StatFacts): Promise<Stored> {
  try {
    const target = toBytes(readlinkSync(directory.entry(name), { encoding: 'latin1' }));
    return { object: await writer.write(target), stat, size: target.length };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // EINVAL: it is no longer a link.
    return code === 'EINVAL' ? { reason: 'changing' } : skipFor(error);
  }
}

/** Stores the content of a file at one moment: a file that changes while it is read is read again. */
export async function storeFile({ directory, name }: Location, writer: BlobWriter, maxBytes: number): Promise<Stored> {
  let fd: number;
  try {
    // A FIFO that has replaced the file must not block the open.
    fd = openSync(directory.entry(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  } catch (error) {
    return skipFor(error);
  }
  try {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const before = fstatSync(fd, { bigint: true });
      if (!before.isFile()) return { reason: 'changing' };
      if (before.size > maxBytes) return { reason: 'too_large' };
      const size = Number(before.size);
      const isFresh = Date.now() - Number(before.mtimeMs) <= TICK_MS;
      const object = await store(fd, size, writer);
      const hasHeld = !isFresh && fstatSync(fd, { bigint: true }).mtimeNs === before.mtimeNs;
      // What is read twice the same was there at one moment: most often, the file was only appended to.
      if (object !== undefined && (hasHeld || object === readId(fd, size)))
        return { object, stat: factsOf(before), size };
    }
    return { reason: 'changing' };
  } catch (error) {
    return skipFor(error);
  } finally {
    closeSync(fd);
  }
}

function store(fd: number, size: number, writer: BlobWriter): Promise<string | undefined> {
  if (size > PIECE_BYTES) return writer.stream(size, pieces(fd));
  const content = Buffer.allocUnsafe(size);
  let length = 0;
  while (length < size) {
    const read = readSync(fd, content, length, size - length, length);
    if (read === 0) return Promise.resolve(undefined);
    length += read;
  }
  return writer.write(content);
}

/** The id of the blob that a file's first `size` bytes are now. */
function readId(fd: number, size: number): string {
  const hash = blobHash(size);
  let missing = size;
  for (const piece of pieces(fd)) {
    const fitting = piece.subarray(0, missing);
    hash.update(fitting);
    missing -= fitting.length;
    if (missing === 0) break;
  }
  return hash.digest('hex');
}

function* pieces(fd: number): Generator<Buffer> {
  for (let position = 0; ;) {
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    const read = readSync(fd, piece, 0, PIECE_BYTES, position);
    if (read === 0) return;
    position += read;
    yield piece.subarray(0, read);
  }
}

/** @throws errors that are not caused by the file. */
function skipFor(error: unknown): Stored {
  const reason = reasonOf(error);
  return reason && { reason };
}
