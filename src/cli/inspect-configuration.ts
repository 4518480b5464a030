import type { Configuration } from '../config/configuration.js';
import { loadConfiguration } from '../config/load.js';
import { findConfigurationFile } from '../config/locate.js';
import type { SettingInForce } from '../config/in-force.js';
import { ConfigurationError } from '../config/problems.js';
import { readSettings, withoutProof } from '../config/read.js';
import type { Context } from './context.js';
import { EXIT } from './failure.js';
import { alignColumns } from './style.js';

/** Says `ok`, or everything that is wrong with a file; the exit code says it too. */
export async function checkConfiguration(context: Context, file: string | undefined, asJson: boolean): Promise<void> {
  const { stdout, stderr } = context;
  try {
    const { file: found } = load(context, file);
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

/** Prints the settings in force, by the names and in the units of the file, and where each comes from. */
export async function showConfiguration(context: Context, file: string | undefined, asJson: boolean): Promise<void> {
  const { env, cwd, stdout } = context;
  // First everything that is wrong is told.
  const { file: found } = load(context, file);
  const source = findConfigurationFile({ flag: file, env, cwd });
  const settings = readSettings({ ...source, env, cwd }, withoutProof).listSettings();
  if (asJson) {
    const sources = Object.fromEntries(settings.map(({ path, source: from }) => [path.join('.'), from]));
    await stdout.write(toJson({ file: found ?? null, ...treeOf(settings), sources }));
    return;
  }
  const rows = settings.map(({ path, value, source: from }) => [path.join('.'), textOf(value), from]);
  const head = `file: ${found ?? 'none: these are the defaults'}`;
  await stdout.write([head, ...alignColumns([['KEY', 'VALUE', 'FROM'], ...rows]), ''].join('\n'));
}

function load({ env, cwd }: Context, file: string | undefined): Configuration {
  return loadConfiguration({ ...findConfigurationFile({ flag: file, env, cwd }), env, cwd });
}

const textOf = (value: unknown): string => (value === undefined ? 'none' : JSON.stringify(value));

/** The tree that a file would be; null is none. */
function treeOf(settings: readonly SettingInForce[]): object {
  const tree: Record<string, unknown> = {};
  for (const { path, value } of settings) {
    let section = tree;
    for (const key of path.slice(0, -1)) section = (section[key] ??= {}) as Record<string, unknown>;
    section[path.at(-1) ?? ''] = value ?? null;
  }
  return tree;
}

const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
