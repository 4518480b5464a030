import type { Configuration } from '../../config/model/configuration.js';
import { loadConfiguration } from '../../config/read/load.js';
import { type EffectiveSetting, readSettings, skipRuleTests } from '../../config/read/read.js';
import { ConfigurationError } from '../../config/model/problems.js';
import { findConfiguration } from '../connect/configuration-file.js';
import type { Context } from '../console/context.js';
import { type DaemonOptions, givenUrl, urlOf } from '../connect/daemon-address.js';
import { EXIT } from '../console/failure.js';
import { findStatus } from '../connect/find-status.js';
import { alignColumns } from '../console/style.js';

/** Prints `ok`, or all problems of a file; the exit code reports the result too. */
export async function checkConfiguration(context: Context, file: string | undefined, asJson: boolean): Promise<void> {
  const { stdout, stderr } = context;
  try {
    const { file: found } = loadConfiguration(findConfiguration(context, file));
    await stdout.write(
      asJson ? toJson({ ok: true, file: found ?? null, problems: [] }) : `${found ?? 'the defaults'}: ok\n`,
    );
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    if (asJson) await stdout.write(toJson({ ok: false, problems: error.problems }));
    else await stderr.write(`${error.message}\n`);
    context.exitWith(EXIT.failed);
  }
}

/**
 * Prints the settings that `serve` would use here, with the names and units of the file and their sources; also the
 * differing settings of a running daemon.
 */
export async function showConfiguration(context: Context, options: DaemonOptions, asJson: boolean): Promise<void> {
  const { stdout } = context;
  const source = findConfiguration(context, options.config);
  const { file, why } = source;
  // Reports all problems.
  const configuration = loadConfiguration(source);
  const daemon = await findRunning(context, options, configuration);
  const settings = readSettings(source, skipRuleTests).listSettings();
  if (asJson) {
    const sources = Object.fromEntries(settings.map(({ path, source: from }) => [path.join('.'), from]));
    await stdout.write(toJson({ file: file ?? null, why, daemon: daemon ?? null, ...treeOf(settings), sources }));
    return;
  }
  const rows = settings.map(({ path, value, source: from }) => [path.join('.'), textOf(value), from]);
  const head = `file: ${file ?? 'none'} (${why})`;
  const body = alignColumns([['KEY', 'VALUE', 'FROM'], ...rows]);
  await stdout.write([...describeDaemon(daemon, configuration), head, ...body, ''].join('\n'));
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

const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
