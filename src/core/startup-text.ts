import { quotePowerShell, sourcePowerShell } from './powershell-text.js';

/** What a session runs before it is handed over. */
export interface Startup {
  /** Whether the startup files of a login shell are read. */
  readonly login: boolean;
  /** A file that is read after them; absolute, or below `~/`. */
  readonly rcfile?: string | undefined;
  /** The text of a named environment, which is run last. */
  readonly init?: string | undefined;
}

/**
 * Startup files of a login shell at a terminal, by shell; of each group the first that is there is read.
 * pwsh has none: its own profile is a file like others.
 * Source: bash(1) INVOCATION, zsh(1) STARTUP/SHUTDOWN FILES, dash(1) INVOCATION, fish(1) CONFIGURATION FILES.
 */
const LOGIN_FILES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  bash: [['/etc/profile'], ['~/.bash_profile', '~/.bash_login', '~/.profile']],
  zsh: [
    ['/etc/zsh/zprofile', '/etc/zprofile'],
    ['~/.zprofile'],
    ['/etc/zsh/zshrc', '/etc/zshrc'],
    ['~/.zshrc'],
    ['/etc/zsh/zlogin', '/etc/zlogin'],
    ['~/.zlogin'],
  ],
  sh: [['/etc/profile'], ['~/.profile']],
  fish: [['/etc/fish/config.fish'], ['~/.config/fish/config.fish']],
};

/** Many files return at once where there is no prompt. */
const WITH_PROMPT = "PS1='$ '";
/** A session shows none. The exit code stays that of the text before. */
const WITHOUT_PROMPT = `eval "PS1=''; (exit $?)"`;

/** Shells whose prompt is no variable. */
const HAS_NO_PROMPT: ReadonlySet<string> = new Set(['fish', 'pwsh']);

/** The text that a session runs before it is handed over; undefined where there is nothing to run. */
export function startupText(shell: string, { login, rcfile, init }: Startup): string | undefined {
  const parts = [
    ...(login ? (LOGIN_FILES[shell] ?? []).map(shell === 'fish' ? fishSourced : firstOf) : []),
    ...(rcfile === undefined ? [] : [(shell === 'pwsh' ? powerShellSourced : sourced)(rcfile)]),
    ...(init === undefined ? [] : [init]),
  ];
  if (parts.length > 0 && HAS_NO_PROMPT.has(shell)) return parts.join('\n');
  return parts.length === 0 ? undefined : [WITH_PROMPT, ...parts, WITHOUT_PROMPT].join('\n');
}

/** The command that reads a file in the shell itself. */
export const sourced = (path: string): string => `. ${quoted(path)}`;

function firstOf(files: readonly string[]): string {
  const branches = files.map((file) => `if [ -r ${quoted(file)} ]; then ${sourced(file)}`);
  return `${branches.join('; el')}; fi`;
}

const fishSourced = ([file = '']: readonly string[]): string => `if test -r ${quoted(file)}; ${sourced(file)}; end`;

const powerShellSourced = (path: string): string =>
  sourcePowerShell(
    path.startsWith('~/') ? `$HOME + ${quotePowerShell(path.slice('~'.length))}` : quotePowerShell(path),
  );

const quoted = (path: string): string =>
  path.startsWith('~/') ? `~/${inQuotes(path.slice('~/'.length))}` : inQuotes(path);

const inQuotes = (text: string): string => (/^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
