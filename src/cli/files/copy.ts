import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Dirent, Stats } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { basename, dirname, join, resolve } from 'node:path';

import { ClientError, hasCode } from '../../client/errors.js';
import { assertName } from '../../client/files.js';
import { writeContent } from '../../engine/files/write-content.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import type { Context } from '../console/context.js';
import { CommandLineError, UsageError } from '../console/failure.js';
import {
  type CopyPlan,
  CopyProgress,
  digestField,
  FileTransfers,
  hashBeginning,
  partName,
  patiently,
  persistently,
  piecesFrom,
  piecesOf,
} from './file-transfers.js';

const OCTAL = 8;
const PERMISSION_BITS = 0o777;
/**
 * Files up to this size go at once, and from their beginning when they were interrupted: what has to be confirmed is not larger. In bytes.
 */
const MIN_RESUMED_BYTES = 4 * 1024 * 1024;

const REMOTE = ':';

/**
 * Copies files to the daemon, or from it.
 * @throws UsageError, CommandLineError, ClientError, ConfigurationError
 */
export async function copy(
  context: Context,
  {
    recursive = false,
    session,
    ...options
  }: DaemonOptions & { readonly recursive?: boolean; readonly session?: string },
  source: string,
  destination: string,
): Promise<void> {
  const isUpload = destination.startsWith(REMOTE);
  if (isUpload === source.startsWith(REMOTE)) {
    throw new UsageError('a colon marks the side of the daemon: either the source or the destination needs one', {
      hint: 'For example: shell-adapter cp FILE :  or  shell-adapter cp :FILE .',
    });
  }
  await withDaemon(options, context, async (client, address) => {
    const files = session === undefined ? client.files : client.filesOf(session);
    const plan: CopyPlan = {
      ask: (request) => patiently(() => request(files)),
      transfers: new FileTransfers(address, session),
      isRecursive: recursive,
      progress: new CopyProgress(context.stderr),
      note: (text) => context.stderr.write(`shell-adapter: ${text}\n`),
    };
    try {
      if (isUpload) await upload(resolve(context.cwd, source), remotePath(destination), plan);
      else await download(remotePath(source), resolve(context.cwd, destination), plan);
    } finally {
      plan.transfers.close();
      await plan.progress.end();
    }
  });
}

const remotePath = (text: string): string => (text === REMOTE ? '.' : text.slice(REMOTE.length));

async function upload(source: string, destination: string, plan: CopyPlan): Promise<void> {
  const there = await plan.ask((files) => files.stat(destination)).catch(ifMissing);
  const target = there?.type === 'directory' ? join(destination, basename(source)) : destination;
  await uploadTree(source, target, plan);
}

async function download(source: string, destination: string, plan: CopyPlan): Promise<void> {
  const isDirectory = await stat(destination).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const found = await plan.ask((files) => files.stat(source));
  const name = basename(found.path);
  assertName(name);
  await downloadTree({ ...found, path: source }, isDirectory ? join(destination, name) : destination, plan);
}

/** For a `catch`: undefined for a path that does not exist. */
function ifMissing(error: unknown): undefined {
  if (hasCode(error, 'FILE_NOT_FOUND')) return undefined;
  throw error;
}

/** The error for a directory without `--recursive`. */
const isDirectoryError = (path: string): CommandLineError =>
  new CommandLineError(`${path} is a directory`, { hint: 'Copy it with all that is in it by -r.' });

/** Copies a file or a directory to the daemon. */
async function uploadTree(source: string, target: string, plan: CopyPlan): Promise<void> {
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

/** A version of a file, which becomes a part of a name. */
const VERSION = /^[\w-]+$/;

/** What is copied: a path of the daemon, with what is known about it. */
interface Source {
  readonly path: string;
  readonly type: string;
  readonly size: number | null;
  /** In octal digits. */
  readonly mode: string;
}

/** Copies a file or a directory from the daemon. */
export async function downloadTree(source: Source, target: string, plan: CopyPlan): Promise<void> {
  const { path, type } = source;
  if (type === 'file') {
    await new FileDownload(source, target, plan).run();
    return;
  }
  if (type !== 'directory') throw new CommandLineError(`${path} is neither a file nor a directory`);
  if (!plan.isRecursive) throw isDirectoryError(path);
  await mkdir(target, { recursive: true });
  let after: string | undefined;
  do {
    const from = after;
    const { entries, next } = await plan.ask((files) => files.list(path, { after: from }));
    for (const entry of entries) {
      assertName(entry.name);
      const below = join(path, entry.name);
      if (entry.type === 'file' || entry.type === 'directory') {
        await downloadTree({ ...entry, path: below }, join(target, entry.name), plan);
      } else await plan.note(`left out ${below}: it is ${entry.type === 'link' ? 'a link' : 'no file'}`);
    }
    after = next ?? undefined;
  } while (after !== undefined);
}

/** A part of an earlier attempt. */
interface Part {
  readonly path: string;
  readonly version: string;
  readonly bytes: number;
}

/** Copies a file beside its place; it takes the place once it is complete. */
class FileDownload {
  readonly #source: Source;
  readonly #target: string;
  readonly #plan: CopyPlan;
  /** Version of the first attempt. */
  #version: string | undefined;
  #moved = 0;

  constructor(source: Source, target: string, plan: CopyPlan) {
    this.#source = source;
    this.#target = target;
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
    const part = await this.#earlierPart();
    const response = await this.#ask(part);
    const version = String(response.headers.etag).replaceAll('"', '');
    if (!VERSION.test(version)) throw new ClientError('INVALID_ANSWER', `the daemon gave ${version} as a version`);
    this.#version ??= version;
    if (this.#version !== version) throw changed(this.#source.path);
    const path = this.#besides(version);
    if (part && part.path !== path) await rm(part.path, { force: true });
    const offset = response.statusCode === 206 && part ? startOf(part) : 0;
    await this.#receive(response, path, offset);
    await rename(path, this.#target);
  }

  /** Asks for the file, or for what is missing of it. */
  async #ask(part: Part | undefined): Promise<IncomingMessage> {
    const rest = part && { range: `bytes=${startOf(part)}-`, 'if-range': `"${part.version}"` };
    const headers = { 'want-repr-digest': 'sha-256=1', ...rest };
    try {
      return await this.#plan.transfers.get({ path: this.#source.path, headers });
    } catch (error) {
      if (!part || !hasCode(error, 'INVALID_REQUEST') || error.details?.['field'] !== 'Range') throw error;
      await rm(part.path, { force: true });
      return await this.#ask(undefined);
    }
  }

  async #receive(response: IncomingMessage, path: string, offset: number): Promise<void> {
    const { progress } = this.#plan;
    progress.begin(basename(this.#target), this.#source.size ?? 0, offset);
    const hash = createHash('sha256');
    const handle = await open(path, offset === 0 ? 'w+' : 'r+');
    try {
      await hashBeginning(handle, offset, hash);
      const note = (piece: Uint8Array) => {
        hash.update(piece);
        progress.add(piece.length);
        this.#moved += piece.length;
      };
      await writeContent(handle, piecesOf(response), note, offset);
      if (response.trailers['repr-digest'] !== digestField(hash)) throw changed(this.#source.path);
      await handle.chmod(Number.parseInt(this.#source.mode, OCTAL) & PERMISSION_BITS);
    } catch (error) {
      if (error instanceof CommandLineError || !this.#isResumable) await rm(path, { force: true });
      throw error;
    } finally {
      response.destroy();
      await handle.close();
    }
  }

  get #isResumable(): boolean {
    return (this.#source.size ?? 0) > MIN_RESUMED_BYTES;
  }

  #besides(version: string): string {
    return join(dirname(this.#target), partName(basename(this.#target), version));
  }

  async #earlierPart(): Promise<Part | undefined> {
    if (!this.#isResumable) return undefined;
    const [before, behind] = partName(basename(this.#target), '\0').split('\0') as [string, string];
    for (const name of await readdir(dirname(this.#target))) {
      const version = name.slice(before.length, -behind.length);
      if (name !== `${before}${version}${behind}` || !VERSION.test(version)) continue;
      const path = join(dirname(this.#target), name);
      const { size } = await stat(path);
      if (size > 0) return { path, version, bytes: size };
    }
    return undefined;
  }
}

/** A range has at least one byte, also of a part that is complete. */
const startOf = ({ bytes }: Part): number => bytes - 1;

const changed = (source: string): CommandLineError =>
  new CommandLineError(`${source} has changed while it was copied, or secrets in it are masked: copy it again`);
