import { createHash } from 'node:crypto';
import { closeSync, existsSync, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { z } from 'zod';

import { trustListOf, userConfigurationFile } from '../model/configuration.js';
import { configurationError } from '../model/problems.js';

/** The configuration file that a call uses. */
export interface ConfigurationSource {
  /** Undefined if there is none: everything has a default. */
  readonly file: string | undefined;
  /** Its text, if it has been read. */
  readonly text?: string;
  /** Why this file is used, for people. */
  readonly why: string;
  /** The file below the current directory, if it is ignored because the user has not trusted it. */
  readonly untrusted?: string;
}

export interface ConfigurationSearch {
  /** Value of `--config`. */
  readonly flag?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

/** The file below the current directory that may be used once it is trusted; also the file in the package. */
export const LOCAL_FILE = 'config/shell_adapter.yaml';

/** The file in the package. The relative path is the same from `src/config/` and `dist/config/`. */
export const SHIPPED_FILE = fileURLToPath(new URL(`../../../${LOCAL_FILE}`, import.meta.url));

/**
 * Finds the configuration file: the flag, SHELL_ADAPTER_CONFIG, the user's own file, `config/shell_adapter.yaml` below the
 * current directory if the user has trusted it, or the file in the package. The first two need not exist: loading reports
 * that. A file that merely lies in the current directory may be from anybody: it could send tokens to another host, or let
 * every command run.
 * @throws {ConfigurationError} when the file below the current directory has changed since it was trusted
 */
export function findConfigurationFile({ flag, env, cwd }: ConfigurationSearch): ConfigurationSource {
  if (flag !== undefined) return { file: resolve(cwd, flag), why: '--config' };
  const variable = env['SHELL_ADAPTER_CONFIG'] || undefined;
  if (variable !== undefined) return { file: resolve(cwd, variable), why: 'SHELL_ADAPTER_CONFIG' };
  const own = userConfigurationFile(env);
  if (existsSync(own)) return { file: own, why: 'your own file' };
  const local = realPath(join(cwd, LOCAL_FILE));
  const shipped = realPath(SHIPPED_FILE);
  const last =
    shipped === undefined ? { file: shipped, why: 'the defaults' } : { file: SHIPPED_FILE, why: 'the shipped file' };
  // In a clone that is installed, both are the same file.
  if (local === undefined || local === shipped) return last;
  const text = readTrusted(local, env);
  if (text === undefined) return { ...last, untrusted: local };
  return { file: local, text, why: 'below the current directory, and trusted' };
}

function realPath(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    // There is no such file, or none that this user can reach.
    return undefined;
  }
}

const trustedFile = z.object({
  /** Absolute, without symbolic links. */
  file: z.string(),
  sha256: z.string(),
  trusted_at: z.string(),
});

const list = z.object({ files: z.array(trustedFile) });

/** A configuration file that its user has trusted, as it was then. */
export type TrustedFile = z.output<typeof trustedFile>;

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
    const message = `is no list of trusted files: ${reason}. Remove it, and trust them again`;
    throw configurationError('', message, { file: path, cause });
  }
}

/**
 * Returns the text of a file that the user has trusted; undefined if they have not. What is returned is what was compared:
 * the file may change at any time.
 * @param file absolute, without symbolic links
 * @throws {ConfigurationError} when it has changed since: what to use instead is the user's decision
 */
function readTrusted(file: string, env: NodeJS.ProcessEnv): string | undefined {
  const trusted = readTrustedFiles(env).find((entry) => entry.file === file);
  if (!trusted) return undefined;
  const content = readFileSync(file);
  if (contentHash(content) === trusted.sha256) return content.toString();
  const remedy = '`shell-adapter config trust` trusts it again, and with --revoke it is ignored';
  throw configurationError('', `has changed since you trusted it. Read it first: ${remedy}`, { file });
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
