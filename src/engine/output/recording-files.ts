import { type FileHandle, open, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';

import { type CastHeader, OWN_KEY, parseEvent, parseHeader, type RecordingOrigin } from '../../core/recording.js';
import { makeDirectory } from '../../files/make-directory.js';

/** Names of recordings: nothing else in the directory is read or removed. */
const NAME = /^(recording_[\w-]{22})\.cast$/u;
const MAX_HEADER_BYTES = 16 * 1024;
/** Bytes at the end of a file that are searched for its last event: output is recorded in pieces of 64 KiB. */
const MAX_TAIL_BYTES = 512 * 1024;

const LINE_FEED = 0x0a;

export interface RecordingSummary {
  readonly header: CastHeader;
  readonly origin: RecordingOrigin;
  readonly bytes: number;
  /** Time of the last whole event. */
  readonly durationMs: number;
  /** How it ended: `complete`, or `cut: REASON`; undefined while it is written, and after a kill of its daemon. */
  readonly end: string | undefined;
}

interface Known {
  readonly stamp: string;
  readonly summary: RecordingSummary | undefined;
}

/** The recordings in a directory. Those that have not changed since are not read again. */
export class RecordingFiles {
  readonly #directory: string;
  #known = new Map<string, Known>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Path of a recording. @param id of a recording, which has no slash */
  pathOf(id: string): string {
    return join(this.#directory, `${id}.cast`);
  }

  /** Creates the directory. @throws the file system's error */
  async prepare(): Promise<void> {
    await makeDirectory(this.#directory, 0o700);
  }

  /** All recordings, the newest first. Files that are none are left out. */
  async list(): Promise<readonly RecordingSummary[]> {
    const ids = (await this.#names()).flatMap((name) => NAME.exec(name)?.[1] ?? []);
    const known = new Map<string, Known>();
    for (const id of ids) {
      const entry = await this.#look(id);
      if (entry) known.set(id, entry);
    }
    this.#known = known;
    const found = [...known.values()].flatMap(({ summary }) => summary ?? []);
    return found.sort((a, b) => (b.header.timestamp ?? 0) - (a.header.timestamp ?? 0));
  }

  /** Returns a recording; undefined when there is none with this id. */
  async find(id: string): Promise<RecordingSummary | undefined> {
    if (!NAME.test(`${id}.cast`)) return undefined;
    return (await this.#look(id))?.summary;
  }

  /** Reads bytes of a recording; fewer at its end. @throws the file system's error */
  async read(id: string, offset: number, length: number): Promise<Buffer> {
    await using file = await open(this.pathOf(id));
    return await readAt(file, offset, length);
  }

  /** Deletes a recording; does nothing when it is gone. @throws the file system's error */
  async remove(id: string): Promise<void> {
    await unlink(this.pathOf(id)).catch(ignoreMissing);
    this.#known.delete(id);
  }

  /**
   * Deletes the oldest recordings until the others have at most `maxBytes` together.
   * @param isKept recordings that are not deleted
   * @returns ids of the deleted ones
   */
  async prune(maxBytes: number, isKept: (id: string) => boolean): Promise<readonly string[]> {
    const all = await this.list();
    let total = all.reduce((sum, { bytes }) => sum + bytes, 0);
    const removed: string[] = [];
    for (const { origin, bytes } of all.toReversed()) {
      if (total <= maxBytes) break;
      if (isKept(origin.recording_id)) continue;
      await this.remove(origin.recording_id);
      removed.push(origin.recording_id);
      total -= bytes;
    }
    return removed;
  }

  async #names(): Promise<readonly string[]> {
    try {
      return await readdir(this.#directory);
    } catch (error) {
      // Nothing was recorded yet.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }

  async #look(id: string): Promise<Known | undefined> {
    const path = this.pathOf(id);
    try {
      const { size, mtimeMs } = await stat(path);
      const stamp = `${size} ${mtimeMs}`;
      const known = this.#known.get(id);
      return known?.stamp === stamp ? known : { stamp, summary: await summarize(id, path) };
    } catch (error) {
      ignoreMissing(error as NodeJS.ErrnoException);
      return undefined;
    }
  }
}

async function summarize(id: string, path: string): Promise<RecordingSummary | undefined> {
  await using file = await open(path);
  const { size } = await file.stat();
  const head = await readAt(file, 0, MAX_HEADER_BYTES);
  const header = parseHeader(head.subarray(0, Math.max(0, head.indexOf(LINE_FEED))).toString());
  const origin = header?.[OWN_KEY];
  if (!header || origin?.recording_id !== id) return undefined;
  const from = Math.max(0, size - MAX_TAIL_BYTES);
  const lines = (await readAt(file, from, MAX_TAIL_BYTES)).toString().split('\n');
  // The last part is empty after a whole line, and torn otherwise.
  const last = lines.slice(0, -1).findLast((line) => parseEvent(line) !== undefined);
  const [seconds = 0, code, data] = (last === undefined ? undefined : parseEvent(last)) ?? [];
  return { header, origin, bytes: size, durationMs: seconds * 1000, end: code === 'x' ? data : undefined };
}

async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  const { bytesRead } = await file.read(buffer, 0, length, offset);
  return buffer.subarray(0, bytesRead);
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
