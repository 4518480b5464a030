import { findNearest } from '../../core/validation/nearest.js';
import { type Setting, variableName } from '../model/settings.js';
import { readValue } from './values.js';

/** A value that an environment variable overrides. */
export interface EnvironmentOverride {
  readonly name: string;
  readonly path: readonly string[];
  readonly value: unknown;
}

/** Overrides of the configuration in the environment. */
export interface EnvironmentOverrides {
  readonly overrides: readonly EnvironmentOverride[];
  /** Variables with the name of an override that match no key. */
  readonly problems: readonly { readonly name: string; readonly message: string }[];
}

/**
 * Reads the `SHELL_ADAPTER_<SECTION>_<KEY>` variables. Numbers, lists (`[a, b]`, or `a,b`) and mappings (`{A: b}`) are
 * written as in YAML. Variables with the prefix that name no section, such as SHELL_ADAPTER_URL, are ignored.
 */
export function readEnvironmentVariables(env: NodeJS.ProcessEnv, settings: readonly Setting[]): EnvironmentOverrides {
  const byName = new Map(settings.map((setting) => [variableName(setting.path), setting]));
  const sections = [...new Set(settings.map((setting) => `${variableName(setting.path.slice(0, 1))}_`))];
  const overrides: EnvironmentOverride[] = [];
  const problems: { name: string; message: string }[] = [];
  for (const [name, text] of Object.entries(env)) {
    if (text === undefined || !sections.some((section) => name.startsWith(section))) continue;
    const setting = byName.get(name);
    if (setting) overrides.push({ name, path: setting.path, value: readSetting(text, setting) });
    else problems.push({ name, message: explainUnknown(name, byName.keys()) });
  }
  return { overrides, problems };
}

function readSetting(text: string, setting: Setting): unknown {
  if (setting.isText) return text;
  const value = readValue(text);
  if (!setting.isList || typeof value !== 'string') return value;
  const entries = value.split(',').map((entry) => entry.trim());
  return entries.filter((entry) => entry !== '');
}

function explainUnknown(name: string, known: Iterable<string>): string {
  const nearest = findNearest(name, known);
  return nearest === undefined ? 'overrides no key' : `overrides no key; did you mean ${nearest}?`;
}
