import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigurationError } from '../model/problems.js';
import { trustListOf } from '../model/user-directories.js';

const trustedFile = z.object({
  /** Absolute, without symbolic links. */
  file: z.string(),
  sha256: z.string(),
  trusted_at: z.string(),
});

const list = z.object({ files: z.array(trustedFile) });

/** A configuration file that its user has trusted, as it was then. */
export type TrustedFile = z.output<typeof trustedFile>;

/** Hash of the content of a file. */
export const contentHash = (content: Buffer): string => createHash('sha256').update(content).digest('hex');

/**
 * Reads the list of trusted files; empty when there is none.
 * @throws {ConfigurationError} when it is not the user's own, or damaged
 */
export function readTrustedFiles(env: NodeJS.ProcessEnv): readonly TrustedFile[] {
  const path = trustListOf(env);
  try {
    const text = readPrivate(path);
    return text === undefined ? [] : list.parse(JSON.parse(text)).files;
  } catch (cause) {
    const reason = cause instanceof z.ZodError ? 'it has another form' : (cause as Error).message;
    throw problem(path, `is no list of trusted files: ${reason}. Remove it, and trust them again`, cause);
  }
}

/**
 * Returns the text of a file that the user has trusted; undefined if they have not. What is returned is what was compared:
 * the file may change at any time.
 * @param file absolute, without symbolic links
 * @throws {ConfigurationError} when it has changed since: what to use instead is the user's decision
 */
export function readTrusted(file: string, env: NodeJS.ProcessEnv): string | undefined {
  const trusted = readTrustedFiles(env).find((entry) => entry.file === file);
  if (!trusted) return undefined;
  const content = readFileSync(file);
  if (contentHash(content) === trusted.sha256) return content.toString();
  const remedy = '`shell-adapter config trust` trusts it again, and with --revoke it is ignored';
  throw problem(file, `has changed since you trusted it. Read it first: ${remedy}`);
}

/** Reads a file that no other user can have written; undefined when there is none. */
function readPrivate(path: string): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    const { uid, mode } = fstatSync(descriptor);
    if (uid !== process.getuid?.() || (mode & 0o022) !== 0) throw new Error('other users can change it');
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

const problem = (file: string, message: string, cause?: unknown): ConfigurationError =>
  new ConfigurationError([{ file, line: undefined, column: undefined, path: '', message }], { cause });
