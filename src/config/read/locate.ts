import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A configuration file, as `loadConfiguration` takes it. */
export interface ConfigurationSource {
  readonly file: string;
  /** Set where it is not the file's own place that relative paths are relative to. */
  readonly baseDirectory?: string;
}

/** Where to look for the configuration file. */
export interface ConfigurationSearch {
  /** What `--config` says. */
  readonly flag?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

const FILE_NAME = 'config/shell_adapter.yaml';

/** From `src/config/` and from `dist/config/` alike. */
const PACKAGE_FILE = new URL(`../../../${FILE_NAME}`, import.meta.url);

/**
 * The configuration file to use: what the flag says, what SHELL_ADAPTER_CONFIG says, `config/shell_adapter.yaml` below the
 * current directory, or the one that comes with the package. The first two need not exist: loading says so. Relative paths
 * in the package's file are relative to the current directory, so that nothing is written where the package is installed.
 */
export function findConfigurationFile({ flag, env, cwd }: ConfigurationSearch): ConfigurationSource | undefined {
  const chosen = flag ?? (env['SHELL_ADAPTER_CONFIG'] || undefined);
  if (chosen !== undefined) return { file: resolve(cwd, chosen) };
  const local = join(cwd, FILE_NAME);
  if (existsSync(local)) return { file: local };
  const packaged = fileURLToPath(PACKAGE_FILE);
  return existsSync(packaged) ? { file: packaged, baseDirectory: cwd } : undefined;
}
