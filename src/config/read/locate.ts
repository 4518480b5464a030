import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A configuration file, in the form that `loadConfiguration` accepts. */
export interface ConfigurationSource {
  readonly file: string;
  /** Base of relative paths; set when it is not derived from the file's location. */
  readonly baseDirectory?: string;
}

/** Inputs of the search for the configuration file. */
export interface ConfigurationSearch {
  /** Value of `--config`. */
  readonly flag?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

const FILE_NAME = 'config/shell_adapter.yaml';

/** The relative path is the same from `src/config/` and `dist/config/`. */
const PACKAGE_FILE = new URL(`../../../${FILE_NAME}`, import.meta.url);

/**
 * Finds the configuration file: the flag, SHELL_ADAPTER_CONFIG, `config/shell_adapter.yaml` below the current
 * directory, or the file in the package. The first two need not exist: loading reports that. Relative paths in the
 * package's file are relative to the current directory, so that nothing is written into the package's installation.
 */
export function findConfigurationFile({ flag, env, cwd }: ConfigurationSearch): ConfigurationSource | undefined {
  const chosen = flag ?? (env['SHELL_ADAPTER_CONFIG'] || undefined);
  if (chosen !== undefined) return { file: resolve(cwd, chosen) };
  const local = join(cwd, FILE_NAME);
  if (existsSync(local)) return { file: local };
  const packaged = fileURLToPath(PACKAGE_FILE);
  return existsSync(packaged) ? { file: packaged, baseDirectory: cwd } : undefined;
}
