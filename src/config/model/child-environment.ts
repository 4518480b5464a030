import { isNamedBy } from '../../core/variables.js';

/** Variables of the daemon's environment that shells inherit by default; a trailing `*` matches any suffix. */
const PASSED = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LC_*', 'TZ', 'SHELL', 'TMPDIR', 'XDG_RUNTIME_DIR'] as const;

/** PATH of the shells when the daemon was started without one. */
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** UTF-8 locale without a language. glibc provides it since 2.35; Debian provided it before. */
const UTF8_LOCALE = 'C.UTF-8';

/** The shells have no interactive user: a pager must not wait for a key, nor a program for an answer. */
const AGENT_VARIABLES = {
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  // `git status` does not write the index, and so runs no hook for that.
  GIT_OPTIONAL_LOCKS: '0',
  DEBIAN_FRONTEND: 'noninteractive',
  TERM: 'dumb',
} as const;

/**
 * Settings of git that come before those of repositories: what lies in a checkout must not run only because git looks at
 * it. Source: git-config(1), core.fsmonitor and safe.bareRepository.
 */
const GIT_SETTINGS = { 'core.fsmonitor': 'false', 'safe.bareRepository': 'explicit' } as const;

/** The keys of `adapter.environment` in the configuration. */
export interface EnvironmentRules {
  /** Additional names to inherit; a name may end in `*`. */
  readonly pass: readonly string[];
  /** Variables with their values, which override all others. */
  readonly set: Readonly<Record<string, string>>;
}

/**
 * Builds the environment of every shell. It inherits a short list of the daemon's variables and the names in `pass`, so
 * that the daemon's secrets are not exposed. It always contains a PATH and a UTF-8 locale.
 */
export function buildChildEnvironment(env: NodeJS.ProcessEnv, rules: EnvironmentRules): Record<string, string> {
  const patterns = [...PASSED, ...rules.pass];
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !isOwn(name) && patterns.some((pattern) => isNamedBy(pattern, name)))
      passed[name] = value;
  }
  if (!passed['PATH']) passed['PATH'] = DEFAULT_PATH;
  return withGitSettings({ ...withUtf8Locale(passed), ...AGENT_VARIABLES, ...rules.set });
}

/** Adds the settings of git to those that the environment gives already. */
function withGitSettings(env: Readonly<Record<string, string>>): Record<string, string> {
  const given = Number(env['GIT_CONFIG_COUNT'] ?? 0);
  const settings = Object.entries(GIT_SETTINGS).flatMap(([key, value], index): [string, string][] => [
    [`GIT_CONFIG_KEY_${given + index}`, key],
    [`GIT_CONFIG_VALUE_${given + index}`, value],
  ]);
  const count = String(given + Object.keys(GIT_SETTINGS).length);
  return { ...env, ...Object.fromEntries<string>(settings), GIT_CONFIG_COUNT: count };
}

/** The daemon's own settings and its clients' tokens, which are never inherited through a pattern. */
const isOwn = (name: string): boolean => name.startsWith('SHELL_ADAPTER_');

/** LC_ALL and LC_CTYPE override LANG: values that are not UTF-8 are removed. */
function withUtf8Locale(env: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(env).filter(([name, value]) => {
    return (name !== 'LC_ALL' && name !== 'LC_CTYPE') || isUtf8(value);
  });
  return { ...Object.fromEntries(kept), LANG: isUtf8(env['LANG'] ?? '') ? (env['LANG'] ?? '') : UTF8_LOCALE };
}

function isUtf8(locale: string): boolean {
  return /\.utf-?8(?:@|$)/i.test(locale);
}
