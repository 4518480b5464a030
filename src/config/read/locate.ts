import { existsSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { userConfigurationFile } from '../model/configuration.js';
import { readTrusted } from './yaml-file.js';

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

/** Inputs of the search for the configuration file. */
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
