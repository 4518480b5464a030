import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Home directory of the user. */
export const homeOf = (env: NodeJS.ProcessEnv): string => env['HOME'] || homedir();

/** Base directories, each with its variable and its default below the home directory. */
const BASES = {
  state: { variable: 'XDG_STATE_HOME', fallback: '.local/state' },
  config: { variable: 'XDG_CONFIG_HOME', fallback: '.config' },
} as const;

/**
 * Returns a base directory of the user. A relative path in its variable is ignored.
 * Source: https://specifications.freedesktop.org/basedir-spec/latest/
 */
export function userDirectory(kind: keyof typeof BASES, env: NodeJS.ProcessEnv): string {
  const { variable, fallback } = BASES[kind];
  const given = env[variable] ?? '';
  return isAbsolute(given) ? given : join(homeOf(env), fallback);
}

/** The user's own configuration, which need not exist. */
export const userConfigurationFile = (env: NodeJS.ProcessEnv): string =>
  join(userDirectory('config', env), 'shell-adapter', 'config.yaml');

/**
 * The list of trusted configuration files. It is in the default state directory: `adapter.state_directory` is a setting of
 * the files that it is about.
 */
export const trustListOf = (env: NodeJS.ProcessEnv): string =>
  join(userDirectory('state', env), 'shell-adapter', 'trusted-configurations.json');
