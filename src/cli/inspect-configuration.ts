import type { Configuration } from '../config/configuration.js';
import { loadConfiguration } from '../config/load.js';
import { findConfigurationFile } from '../config/locate.js';
import type { LogFormat } from '../config/log-format.js';
import { ConfigurationError } from '../config/problems.js';
import { Secret } from '../core/secret.js';
import { MASK, SecretMask } from '../core/secrets/secret-mask.js';
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

/** Prints the settings in force. */
export async function showConfiguration(context: Context, file: string | undefined, asJson: boolean): Promise<void> {
  const configuration = load(context, file);
  const mask = new SecretMask(configuration.secrets);
  const shown = mask.value({ ...configuration, secrets: configuration.secrets.map(() => MASK) });
  if (asJson) {
    await context.stdout.write(toJson(shown));
    return;
  }
  const { file: found = 'none: these are the defaults', ...rest } = shown;
  const sections = { ...rest, logging: { ...rest.logging, format: formatText(rest.logging.format) } };
  const rows = Object.entries(sections).flatMap(([name, section]) => listValues(section, name));
  await context.stdout.write([`file: ${found}`, ...alignColumns(rows), ''].join('\n'));
}

function load({ env, cwd }: Context, file: string | undefined): Configuration {
  return loadConfiguration({ ...findConfigurationFile({ flag: file, env, cwd }), env, cwd });
}

function listValues(value: unknown, path: string): string[][] {
  const isSection = typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Secret);
  if (!isSection) return [[path, value === undefined ? 'no limit' : JSON.stringify(value)]];
  return Object.entries(value).flatMap(([key, inner]) => listValues(inner, `${path}.${key}`));
}

/** A log format as it stands in the file. */
const formatText = (format: LogFormat): string =>
  format
    .map((part) => {
      if (typeof part === 'string') return part.replaceAll('%', '%%');
      return `%(${part.field})${part.align === 'left' ? '-' : ''}${part.width || ''}${part.conversion}`;
    })
    .join('');

const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
