import { existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

import { type Configuration, trustListOf, userConfigurationFile } from '../../config/model/configuration.js';
import { ConfigurationError } from '../../config/model/problems.js';
import { loadConfiguration } from '../../config/read/load.js';
import { contentHash, LOCAL_FILE, readTrustedFiles, SHIPPED_FILE, type TrustedFile } from '../../config/read/locate.js';
import { type EffectiveSetting, readSettings, skipRuleTests } from '../../config/read/read.js';
import { writePrivateFile } from '../../engine/system/local-files.js';
import { findConfiguration } from '../connect/configuration.js';
import { type DaemonOptions, givenUrl, urlOf } from '../connect/daemon-address.js';
import { findStatus } from '../connect/with-daemon.js';
import type { Context } from '../console/context.js';
import { CommandLineError, EXIT, messageOf, UsageError } from '../console/failure.js';
import { alignColumns, table } from '../console/style.js';
import { type JsonOption, printAnswer } from '../console/subcommand.js';

/** Prints `ok`, or all problems of a file; the exit code reports the result too. */
export async function checkConfiguration(context: Context, options: JsonOption, file?: string): Promise<void> {
  try {
    const { file: found = null } = loadConfiguration(findConfiguration(context, file));
    await printAnswer(
      context,
      options,
      { ok: true, file: found, problems: [] },
      () => `${found ?? 'the defaults'}: ok`,
    );
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const { message, problems } = error;
    await printAnswer(context, options, { ok: false, problems }, () => []);
    if (options.json !== true) await context.stderr.write(`${message}\n`);
    context.exitWith(EXIT.failed);
  }
}

/**
 * Prints the settings that `serve` would use here, with the names and units of the file and their sources; also the
 * differing settings of a running daemon.
 */
export async function showConfiguration(context: Context, options: DaemonOptions & JsonOption): Promise<void> {
  const source = findConfiguration(context, options.config);
  const { file, why } = source;
  // Reports all problems.
  const configuration = loadConfiguration(source);
  const daemon = await findRunning(context, options, configuration);
  const settings = readSettings(source, skipRuleTests).listSettings();
  const sources = Object.fromEntries(settings.map(({ path, source: from }) => [path.join('.'), from]));
  const answer = { file: file ?? null, why, daemon: daemon ?? null, ...treeOf(settings), sources };
  await printAnswer(context, options, answer, () => {
    const rows = settings.map(({ path, value, source: from }) => [path.join('.'), textOf(value), from]);
    const head = `file: ${file ?? 'none'} (${why})`;
    return [...describeDaemon(daemon, configuration), head, ...alignColumns([['KEY', 'VALUE', 'FROM'], ...rows])];
  });
}

/** A running daemon in the output of `config show`. */
interface RunningDaemon {
  readonly url: string;
  readonly version: string;
  readonly configuration_file: string | null;
  readonly workspace_directory: string;
}

/** Finds a running daemon; undefined when none answers, or it does not accept this client. */
async function findRunning(
  context: Context,
  options: DaemonOptions,
  { socketio }: Configuration,
): Promise<RunningDaemon | undefined> {
  const url = givenUrl(options, context)?.url ?? urlOf(socketio);
  const found = url === undefined ? undefined : await findStatus(options, context);
  if (url === undefined || found?.state !== 'running') return undefined;
  const { adapter_version: version, configuration_file, workspace_directory } = found.status;
  return { url, version, configuration_file, workspace_directory };
}

/** Describes a running daemon, and whether it uses the settings below. */
function describeDaemon(daemon: RunningDaemon | undefined, { file, adapter }: Configuration): string[] {
  if (!daemon) return [];
  const { url, version, configuration_file: theirs, workspace_directory: workspace } = daemon;
  const isSame = theirs === (file ?? null) && workspace === adapter.workspaceDirectory;
  return [
    `daemon: ${url}, version ${version}, file ${theirs ?? 'none'}, workspace ${workspace}`,
    ...(isSame ? [] : ['These are not the settings of that daemon, but those that `serve` would use here:']),
  ];
}

const textOf = (value: unknown): string => (value === undefined ? 'none' : JSON.stringify(value));

/** Builds the tree of a configuration file; null for a key without a value. */
function treeOf(settings: readonly EffectiveSetting[]): object {
  const tree: Record<string, unknown> = {};
  for (const { path, value } of settings) {
    let section = tree;
    for (const key of path.slice(0, -1)) section = (section[key] ??= {}) as Record<string, unknown>;
    section[path.at(-1) ?? ''] = value ?? null;
  }
  return tree;
}

/** What `config trust` does instead. */
interface TrustChoice extends JsonOption {
  readonly list?: boolean;
  readonly revoke?: boolean;
}

/**
 * Writes the user's own configuration file: a copy of the shipped one.
 * @throws CommandLineError when there is one, and `force` is not given
 */
export async function initConfiguration(
  { env, stdout }: Context,
  { force = false }: { readonly force?: boolean },
): Promise<void> {
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
export async function trustConfiguration(context: Context, options: TrustChoice, given = LOCAL_FILE): Promise<void> {
  const { env, cwd, stdout } = context;
  const trusted = readTrustedFiles(env);
  if (options.list === true) return printAnswer(context, options, { files: trusted }, () => renderTrusted(trusted));
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

const save = (env: NodeJS.ProcessEnv, files: readonly TrustedFile[]): void =>
  writeOwn(trustListOf(env), `${JSON.stringify({ files }, null, 2)}\n`);

function writeOwn(file: string, content: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writePrivateFile(file, content);
}

const renderTrusted = (files: readonly TrustedFile[]): string[] =>
  table(
    ['SINCE', 'FILE'],
    files.map(({ file, trusted_at: since }) => [since, file]),
    'No configuration file is trusted.',
  );
