import { createHash } from 'node:crypto';
import type { Dirent, Stats } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import { CommandLineError } from '../console/failure.js';
import { type CopyPlan, isDirectoryError, undefinedIfMissing } from './copy-plan.js';

const PERMISSION_BITS = 0o777;
const OCTAL = 8;

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
    const found = await handle.stat();
    plan.progress.begin(basename(source), found.size);
    const permissions = (found.mode & PERMISSION_BITS).toString(OCTAL).padStart(3, '0');
    if (found.size > plan.partBytes) await uploadParts({ handle, found, source, target, permissions }, plan);
    else {
      const data = await readPart(handle, 0, found.size);
      await plan.ask((files) => files.write(target, data, { permissions }));
      plan.progress.add(data.length);
    }
  } finally {
    await handle.close();
  }
}

interface LocalFile {
  readonly handle: FileHandle;
  readonly found: Stats;
  readonly source: string;
  readonly target: string;
  readonly permissions: string;
}

/** Copies a large file in parts, beside its place; it takes the place once it is complete. */
async function uploadParts(file: LocalFile, plan: CopyPlan): Promise<void> {
  const { ask, partBytes, progress } = plan;
  const { handle, found, source, target, permissions } = file;
  const part = join(dirname(target), `.${basename(target)}.${keyOf(file)}.part`);
  const hash = createHash('sha256');
  let at = await resumeAt(part, found.size, plan);
  progress.add(at);
  await hashBeginning(handle, at, partBytes, hash);
  let next = readPart(handle, at, partBytes);
  while (at < found.size) {
    const data = await next;
    if (data.length === 0) throw new CommandLineError(`${source} has become shorter while it was copied`);
    next = readPart(handle, at + data.length, partBytes);
    // The next part is read meanwhile.
    next.catch(() => undefined);
    hash.update(data);
    const mode = at === 0 ? ({ mode: 'overwrite', permissions } as const) : ({ mode: 'append' } as const);
    await ask((files) => files.write(part, data, mode));
    at += data.length;
    progress.add(data.length);
  }
  await next.catch(() => undefined);
  const there = await ask((files) => files.stat(part, { hash: true }));
  if (there.sha256 !== hash.digest('hex')) {
    await ask((files) => files.remove(part));
    throw new CommandLineError(`${source} has changed while it was copied, or did not arrive as it is: copy it again`);
  }
  await ask((files) => files.move(part, target, { overwrite: true }));
}

/** Tells versions of a file apart: another content is no continuation. */
const keyOf = ({ source, found: { size, mtimeMs } }: LocalFile): string =>
  createHash('sha256').update(`${source}\0${size}\0${mtimeMs}`).digest('hex').slice(0, 12);

/** How many bytes of a part are there from an earlier attempt. */
async function resumeAt(part: string, size: number, { ask }: CopyPlan): Promise<number> {
  const there = (await ask((files) => files.stat(part)).catch(undefinedIfMissing))?.size ?? 0;
  return there <= size ? there : 0;
}

async function hashBeginning(
  handle: FileHandle,
  length: number,
  partBytes: number,
  hash: ReturnType<typeof createHash>,
): Promise<void> {
  for (let at = 0; at < length;) {
    const data = await readPart(handle, at, Math.min(partBytes, length - at));
    if (data.length === 0) return;
    hash.update(data);
    at += data.length;
  }
}

async function readPart(handle: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
