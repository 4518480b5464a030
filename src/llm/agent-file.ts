import { constants, open } from 'node:fs/promises';

import { AdapterError } from '../core/errors.js';

/** Largest file of instructions, in bytes: it goes in front of every prompt. */
const MAX_BYTES = 1024 * 1024;

/**
 * What a repository says to agents. Whoever works in the repository can put anything in the place of the file, so only a file is read: a
 * pipe would be waited at for ever, and a device has no end.
 * @returns undefined when there is no such file
 * @throws AdapterError BAD_DIRECTORY when it cannot be read
 */
export async function readAgentFile(file: string): Promise<string | undefined> {
  try {
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = await handle.stat();
    if (!stat.isFile()) throw refusal(file, 'it is no file');
    if (stat.size > MAX_BYTES) throw refusal(file, `it has ${stat.size} bytes; at most ${MAX_BYTES} are read`);
    // It may be growing meanwhile.
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(stat.size), 0, stat.size, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } catch (error) {
    if (error instanceof AdapterError) throw error;
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw refusal(file, code, error);
  }
}

const refusal = (file: string, why: string, cause?: unknown): AdapterError =>
  new AdapterError('BAD_DIRECTORY', `${file} cannot be read: ${why}`, { details: { file }, cause });
