import { createHash } from 'node:crypto';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

import type { Answer } from '../../client/index.js';
import { CommandLineError } from '../console/failure.js';
import { type CopyPlan, isDirectoryError } from './copy-plan.js';

const OCTAL = 8;
/** Parts that are asked for at once, so that the connection is never idle. */
const AHEAD = 4;

/** Copies a file or a directory from the daemon. */
export async function downloadTree(source: string, target: string, plan: CopyPlan): Promise<void> {
  const found = await plan.ask((files) => files.stat(source));
  if (found.type === 'file') {
    await downloadFile(source, target, found, plan);
    return;
  }
  if (found.type !== 'directory') throw new CommandLineError(`${source} is neither a file nor a directory`);
  if (!plan.isRecursive) throw isDirectoryError(source);
  await mkdir(target, { recursive: true });
  let after: string | undefined;
  do {
    const from = after;
    const { entries, next } = await plan.ask((files) => files.list(source, { after: from }));
    for (const { name, type } of entries) {
      if (type === 'file' || type === 'directory') await downloadTree(join(source, name), join(target, name), plan);
      else await plan.note(`left out ${join(source, name)}: it is ${type === 'link' ? 'a link' : 'no file'}`);
    }
    after = next ?? undefined;
  } while (after !== undefined);
}

type Description = Answer<'stat_path'>;

/** Copies a file beside its place; it takes the place once it is complete. */
async function downloadFile(source: string, target: string, found: Description, plan: CopyPlan): Promise<void> {
  const size = found.size ?? 0;
  plan.progress.begin(basename(target), size);
  const key = createHash('sha256').update(`${found.real_path}\0${size}\0${found.mtime_ms}`).digest('hex').slice(0, 12);
  const part = join(dirname(target), `.${basename(target)}.${key}.part`);
  const handle = await open(part, 'a+');
  try {
    const there = (await handle.stat()).size;
    const begin = there <= size ? there : 0;
    if (begin === 0) await handle.truncate(0);
    plan.progress.add(begin);
    await takeParts(handle, source, { begin, found }, plan);
    const { sha256 } = await plan.ask((files) => files.stat(source, { hash: true }));
    if (sha256 !== (await hashOf(handle, plan.partBytes))) throw changed(source);
    await handle.chmod(Number.parseInt(found.mode, OCTAL) & 0o777);
  } catch (error) {
    await handle.close();
    if (error instanceof CommandLineError) await rm(part, { force: true });
    throw error;
  }
  await handle.close();
  await rename(part, target);
}

const changed = (source: string): CommandLineError =>
  new CommandLineError(`${source} has changed while it was copied, or secrets in it are masked: copy it again`);

/** Reads the parts of a file in order, some of them ahead. */
async function takeParts(
  handle: FileHandle,
  source: string,
  { begin, found }: { readonly begin: number; readonly found: Description },
  { ask, partBytes, progress }: CopyPlan,
): Promise<void> {
  const size = found.size ?? 0;
  const ahead: Promise<Answer<'read_file'>>[] = [];
  let asked = begin;
  const askFor = () => {
    if (asked >= size) return;
    const offset = asked;
    const reading = ask((files) => files.read(source, { offset, length: partBytes }));
    // A failure is reported when it is the turn of the part.
    reading.catch(() => undefined);
    ahead.push(reading);
    asked += partBytes;
  };
  for (let index = 0; index < AHEAD; index += 1) askFor();
  for (let reading = ahead.shift(); reading; reading = ahead.shift()) {
    const { data, mtime_ms: mtimeMs } = await reading;
    askFor();
    if (mtimeMs !== found.mtime_ms || typeof data === 'string') throw changed(source);
    await handle.write(data);
    progress.add(data.length);
  }
}

async function hashOf(handle: FileHandle, pieceBytes: number): Promise<string> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(pieceBytes);
  for (let at = 0; ;) {
    const { bytesRead } = await handle.read(buffer, 0, pieceBytes, at);
    if (bytesRead === 0) return hash.digest('hex');
    hash.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
}
