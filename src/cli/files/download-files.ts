import { createHash } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { basename, dirname, join } from 'node:path';

import { ClientError, hasCode } from '../../client/errors.js';
import { assertName } from '../../client/files.js';
import { writeContent } from '../../engine/files/write-content.js';
import { CommandLineError } from '../console/failure.js';
import {
  type CopyPlan,
  digestField,
  hashBeginning,
  isDirectoryError,
  partName,
  persistently,
  piecesOf,
} from './file-transfers.js';

const OCTAL = 8;
const PERMISSION_BITS = 0o777;
/** Files up to this size are copied from their beginning when they were interrupted, in bytes. */
const MIN_RESUMED_BYTES = 4 * 1024 * 1024;

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
