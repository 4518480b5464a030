import { existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

import { trustListOf, userConfigurationFile } from '../../config/model/configuration.js';
import { contentHash, LOCAL_FILE, readTrustedFiles, SHIPPED_FILE, type TrustedFile } from '../../config/read/locate.js';
import { writePrivateFile } from '../../engine/system/local-files.js';
import { alignColumns } from '../console/style.js';
import type { Context } from '../console/context.js';
import { CommandLineError, messageOf, UsageError } from '../console/failure.js';

/** Options of `config trust`. */
export interface TrustOptions {
  readonly list?: boolean;
  readonly revoke?: boolean;
  readonly json?: boolean;
}

/**
 * Writes the user's own configuration file: a copy of the shipped one.
 * @throws CommandLineError when there is one, and `force` is not given
 */
export async function initConfiguration({ env, stdout }: Context, { force = false }): Promise<void> {
  const file = userConfigurationFile(env);
  if (!force && existsSync(file)) {
    throw new CommandLineError(`${file} exists already`, {
      hint: '--force overwrites it with the shipped settings.',
    });
  }
  writeOwn(file, readFileSync(SHIPPED_FILE, 'utf8'));
  await stdout.write(`${file}\n`);
}

/**
 * Trusts a configuration file as it is now, ends that, or lists the trusted files.
 * @param file default: the one below the current directory
 * @throws UsageError, CommandLineError, ConfigurationError
 */
export async function trustConfiguration(context: Context, given = LOCAL_FILE, options: TrustOptions): Promise<void> {
  const { env, cwd, stdout } = context;
  const trusted = readTrustedFiles(env);
  if (options.list === true) return stdout.write(options.json ? toJson(trusted) : renderTable(trusted));
  const file = realPath(resolve(cwd, given), options.revoke === true);
  const others = trusted.filter((entry) => entry.file !== file);
  if (options.revoke === true) {
    if (others.length === trusted.length) throw new CommandLineError(`${file} is not trusted`);
    save(env, others);
    return stdout.write(`revoked ${file}\n`);
  }
  if (join(basename(dirname(file)), basename(file)) !== LOCAL_FILE) {
    const hint = `Only ${LOCAL_FILE} below the current directory is looked for. Name other files with --config.`;
    throw new UsageError(`${file}: trust has no effect on this file`, { hint });
  }
  save(env, [...others, { file, sha256: contentHash(read(file)), trusted_at: new Date().toISOString() }]);
  const own = userConfigurationFile(env);
  const note = existsSync(own) ? `; it is not used while there is ${own}` : '';
  return stdout.write(`trusted ${file} as it is now${note}\n`);
}

/** Resolves symbolic links; a file whose trust is revoked may be gone. */
function realPath(file: string, mayBeGone: boolean): string {
  try {
    return realpathSync(file);
  } catch (cause) {
    if (mayBeGone) return file;
    throw new CommandLineError(`${file} cannot be read: ${messageOf(cause as Error)}`, { cause });
  }
}

function read(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (cause) {
    throw new CommandLineError(`${file} cannot be read: ${messageOf(cause as Error)}`, { cause });
  }
}

const save = (env: NodeJS.ProcessEnv, files: readonly TrustedFile[]): void => writeOwn(trustListOf(env), toJson(files));

function writeOwn(file: string, content: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writePrivateFile(file, content);
}

function renderTable(files: readonly TrustedFile[]): string {
  if (files.length === 0) return 'No configuration file is trusted.\n';
  const rows = files.map(({ file, trusted_at: since }) => [since, file]);
  return `${alignColumns([['SINCE', 'FILE'], ...rows]).join('\n')}\n`;
}

const toJson = (files: readonly TrustedFile[]): string => `${JSON.stringify({ files }, null, 2)}\n`;
