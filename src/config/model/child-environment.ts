import { isNamedBy } from '../../core/variables.js';

/** What shells get of the daemon's environment without being asked; `*` at the end stands for anything. */
const PASSED = ['PATH', 'HOME', 'USER', 'LOGNAME', 'LANG', 'LC_*', 'TZ', 'SHELL', 'TMPDIR', 'XDG_RUNTIME_DIR'] as const;

/** Where programs are when the daemon was started without a PATH. */
const DEFAULT_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The locale that every glibc has since 2.35, and Debian before: UTF-8 without a language. */
const UTF8_LOCALE = 'C.UTF-8';

/** Nobody sits at these shells: no pager may wait for a key, no program for an answer that cannot come. */
const AGENT_VARIABLES = {
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  DEBIAN_FRONTEND: 'noninteractive',
  TERM: 'dumb',
} as const;

/** The keys `adapter.environment` of the configuration. */
export interface EnvironmentRules {
  /** Further names to pass on; one may end in `*`. */
  readonly pass: readonly string[];
  /** Variables with their values, which win over all others. */
  readonly set: Readonly<Record<string, string>>;
}

/**
 * The environment that every shell starts with. Of the daemon's own it has a short list and what `pass` names, so that
 * the daemon's secrets stay its own. It always has a PATH and a UTF-8 locale.
 */
export function buildChildEnvironment(env: NodeJS.ProcessEnv, rules: EnvironmentRules): Record<string, string> {
  const patterns = [...PASSED, ...rules.pass];
  const passed: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !isOwn(name) && patterns.some((pattern) => isNamedBy(pattern, name)))
      passed[name] = value;
  }
  if (!passed['PATH']) passed['PATH'] = DEFAULT_PATH;
  return { ...withUtf8Locale(passed), ...AGENT_VARIABLES, ...rules.set };
}

/** The daemon's own settings and its clients' tokens, which no pattern is meant to pass on. */
const isOwn = (name: string): boolean => name.startsWith('SHELL_ADAPTER_');

/** LC_ALL and LC_CTYPE win over LANG: those that are not UTF-8 have to go. */
function withUtf8Locale(env: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(env).filter(([name, value]) => {
    return (name !== 'LC_ALL' && name !== 'LC_CTYPE') || isUtf8(value);
  });
  return { ...Object.fromEntries(kept), LANG: isUtf8(env['LANG'] ?? '') ? (env['LANG'] ?? '') : UTF8_LOCALE };
}

function isUtf8(locale: string): boolean {
  return /\.utf-?8(?:@|$)/i.test(locale);
}
