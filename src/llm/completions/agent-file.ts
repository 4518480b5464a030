import { constants, open } from 'node:fs/promises';

import { AdapterError } from '../../core/errors.js';

/** Largest instruction file, in bytes: it precedes every prompt. */
const MAX_BYTES = 1024 * 1024;

/**
 * Reads a repository's instructions for agents. Other users of the repository can replace the file, so only a regular
 * file is read: a pipe would block indefinitely, and a device has no end.
 * @returns undefined when the file does not exist
 * @throws AdapterError BAD_DIRECTORY when it cannot be read
 */
export async function readAgentFile(file: string): Promise<string | undefined> {
  try {
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = await handle.stat();
    if (!stat.isFile()) throw refusal(file, 'it is no file');
    if (stat.size > MAX_BYTES) throw refusal(file, `it has ${stat.size} bytes; at most ${MAX_BYTES} are read`);
    // The file may be growing meanwhile.
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
