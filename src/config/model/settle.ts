import { join, resolve } from 'node:path';
import type { PathDefault } from '../fields/facts.js';
import type { CheckedConfiguration } from './schema.js';
import type { Setting } from './settings.js';
import { valueAt, withValueAt } from './tree.js';
import { homeOf, userDirectory } from './user-directories.js';

/** Inputs of `settle` besides the validated file. */
export interface Surroundings {
  readonly env: NodeJS.ProcessEnv;
  /** The daemon's current directory. */
  readonly cwd: string;
  /** Returns the base directory of a relative path in this key. */
  readonly baseOf: (path: readonly string[]) => string;
}

/**
 * Fills in the values that depend on the surroundings of the daemon: paths become absolute, and values that environment
 * variables provide are added. The names and units stay those of the file.
 */
export function settle(
  checked: CheckedConfiguration,
  settings: readonly Setting[],
  surroundings: Surroundings,
): CheckedConfiguration {
  // In the order of the keys: `adapter.state_directory` comes before the paths in it.
  return settings.reduce((settled, setting) => {
    const given = valueAt(settled, setting.path);
    const value =
      given === undefined ? missing(settled, setting, surroundings) : absolute(given, setting, surroundings);
    return value === given ? settled : withValueAt(settled, setting.path, value);
  }, checked);
}

function missing(
  settled: CheckedConfiguration,
  { variable, location }: Setting,
  { env, cwd }: Surroundings,
): string | undefined {
  if (variable !== undefined) return env[variable] || undefined;
  if (location?.default === undefined) return undefined;
  const directories: Record<PathDefault['in'], () => string | undefined> = {
    start_directory: () => cwd,
    state_home: () => userDirectory('state', env),
    state_directory: () => settled.adapter.state_directory,
  };
  return join(directories[location.default.in]() ?? cwd, location.default.name);
}

function absolute(value: unknown, { path, location }: Setting, { env, baseOf }: Surroundings): unknown {
  if (location === undefined) return value;
  if (Array.isArray(value)) return value.map((entry) => resolvePath(String(entry), baseOf(path), env));
  const text = String(value);
  return location.if?.(text) === false ? text : resolvePath(text, baseOf(path), env);
}

function resolvePath(path: string, base: string, env: NodeJS.ProcessEnv): string {
  const expanded = path === '~' || path.startsWith('~/') ? join(homeOf(env), path.slice(1)) : path;
  return resolve(base, expanded);
}
