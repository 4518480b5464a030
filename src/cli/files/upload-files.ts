import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Dirent, Stats } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import type { ClientRequest } from 'node:http';
import { basename, join } from 'node:path';

import { hasCode } from '../../client/errors.js';
import { CommandLineError } from '../console/failure.js';
import {
  type CopyPlan,
  digestField,
  hashBeginning,
  isDirectoryError,
  persistently,
  piecesFrom,
} from './file-transfers.js';

const PERMISSION_BITS = 0o777;
const OCTAL = 8;
/** Files up to this size go at once: what has to be confirmed is not larger. In bytes. */
const MIN_RESUMED_BYTES = 4 * 1024 * 1024;

/** Copies a file or a directory to the daemon. */
export async function uploadTree(source: string, target: string, plan: CopyPlan): Promise<void> {
  const found = await stat(source).catch((cause: unknown) => {
    throw new CommandLineError(`${source} cannot be read: ${(cause as Error).message}`, { cause });
  });
  if (found.isFile()) {
    await uploadFile(source, target, plan);
    return;
  }
  if (!found.isDirectory()) throw new CommandLineError(`${source} is neither a file nor a directory`);
  if (!plan.isRecursive) throw isDirectoryError(source);
  await plan.ask((files) => files.makeDirectory(target, { parents: true }));
  for (const entry of (await readdir(source, { withFileTypes: true })).sort(byName)) {
    const path = join(source, entry.name);
    if (entry.isFile() || entry.isDirectory()) await uploadTree(path, join(target, entry.name), plan);
    else await plan.note(`left out ${path}: it is ${entry.isSymbolicLink() ? 'a link' : 'no file'}`);
  }
}

const byName = (a: Dirent, b: Dirent): number => (a.name < b.name ? -1 : 1);

async function uploadFile(source: string, target: string, plan: CopyPlan): Promise<void> {
  const handle = await open(source, 'r');
  try {
    await new FileUpload({ handle, found: await handle.stat(), source, target }, plan).run();
  } finally {
    await handle.close();
  }
}

interface LocalFile {
  readonly handle: FileHandle;
  readonly found: Stats;
  readonly source: string;
  readonly target: string;
}

/** Sends a file. Of a large one, what has come stays beside its place until all of it is there. */
class FileUpload {
  readonly #file: LocalFile;
  readonly #plan: CopyPlan;
  /** Bytes that are there from earlier attempts. */
  #offset = 0;
  #moved = 0;

  constructor(file: LocalFile, plan: CopyPlan) {
    this.#file = file;
    this.#plan = plan;
  }

  /** @throws CommandLineError, ClientError, system errors */
  async run(): Promise<void> {
    await persistently(
      () => this.#attempt(),
      () => this.#moved,
    );
  }

  async #attempt(): Promise<void> {
    const { source } = this.#file;
    try {
      await this.#send();
    } catch (error) {
      const there = hasCode(error, 'FILE_CHANGED') ? error.details?.['size'] : undefined;
      if (typeof there === 'number' && there !== this.#offset && this.#isResumable) {
        this.#offset = there;
        await this.#attempt();
        return;
      }
      if (!hasCode(error, 'INVALID_REQUEST') || error.details?.['sha256'] === undefined) throw error;
      const message = `${source} has changed while it was copied, or did not arrive as it is: copy it again`;
      throw new CommandLineError(message, { cause: error });
    }
  }

  async #send(): Promise<void> {
    const { found, target } = this.#file;
    const { transfers, progress } = this.#plan;
    const permissions = (found.mode & PERMISSION_BITS).toString(OCTAL).padStart(3, '0');
    const resume = this.#isResumable && { resume: keyOf(this.#file), offset: String(this.#offset) };
    progress.begin(basename(this.#file.source), found.size, this.#offset);
    await transfers.put(
      { path: target, query: { permissions, ...resume }, headers: { trailer: 'Repr-Digest' } },
      (request) => this.#sendBody(request),
    );
  }

  async #sendBody(request: ClientRequest): Promise<void> {
    const { handle, found, source } = this.#file;
    const hash = createHash('sha256');
    const answered = new AbortController();
    const stop = () => {
      answered.abort();
    };
    request.once('response', stop).once('close', stop);
    await hashBeginning(handle, this.#offset, hash);
    let sent = this.#offset;
    for await (const piece of piecesFrom(handle, this.#offset)) {
      if (answered.signal.aborted) return;
      hash.update(piece);
      sent += piece.length;
      if (!request.write(piece)) await once(request, 'drain', { signal: answered.signal }).catch(() => undefined);
      this.#plan.progress.add(piece.length);
      this.#moved = Math.max(this.#moved, sent);
    }
    if (answered.signal.aborted) return;
    if (sent !== found.size) throw new CommandLineError(`${source} has another size than when its copy began`);
    request.addTrailers({ 'repr-digest': digestField(hash) });
    request.end();
  }

  get #isResumable(): boolean {
    return this.#file.found.size > MIN_RESUMED_BYTES;
  }
}

/** Tells versions of a file apart: another content is no continuation. */
const keyOf = ({ source, found: { size, mtimeMs } }: LocalFile): string =>
  createHash('sha256').update(`${source}\0${size}\0${mtimeMs}`).digest('hex').slice(0, 12);
