import { fileURLToPath } from 'node:url';

import type { InstalledShell } from './list.js';
import { type OneShotShell, quote, type Shell } from './shell.js';

/** A command for a process that waits, with its own settings. */
export interface OneShotRequest {
  readonly text: string;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly stdinFile?: string | undefined;
  /** Whether stderr is written to stdout. */
  readonly isMerged?: boolean | undefined;
}

/**
 * How to start a process that waits for a line on descriptor 3: at `go` it reads the request file and becomes
 * `SHELL -c TEXT`; at anything else, or EOF, it exits. It sets the session mark from `__SA_MARK` first.
 */
export interface WaitingShell {
  readonly file: string;
  readonly args: readonly string[];
  /** Variables that the start needs; the process removes them. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Index of the argument that the shell runs as its text after the request. It starts another shell with the text of the
   * request, unless it is overwritten with that text while the process waits. Undefined when there is none.
   */
  readonly textIndex?: number;
}

/** Waits for the request in bash, which reads the file that BASH_ENV names before it looks at the text of `-c`. */
const WAIT_IN_BASH = fileURLToPath(new URL('./drivers/one-shot.bash', import.meta.url));
/** The same in a POSIX shell, with the request file as its argument; `exec SHELL` follows. */
const WAIT_IN_SH = [
  'ulimit -S -w "$__SA_MARK" 2>/dev/null || ulimit -S -x "$__SA_MARK" 2>/dev/null; unset __SA_MARK',
  'read -r __sa <&3 || exit 0',
  'exec 3<&-',
  '[ "$__sa" = go ] || exit 0',
  '. "$1"',
].join('; ');
/** The request has its text in this variable, which bash has beside `-c`. */
const TEXT = 'BASH_EXECUTION_STRING';
/**
 * Longest text that can take the place of the argument of a waiting bash, in bytes. Each start passes as many on; longer texts are
 * rare, and cost the start of a second shell.
 */
const ROOM_BYTES = 2 * 1024;
/** Longest argument of a program on Linux, in bytes: MAX_ARG_STRLEN without its NUL. */
const MAX_ARGUMENT_BYTES = 128 * 1024 - 1;
/** Ends a bash that has not read the file of BASH_ENV, for example since another version was installed over this one. */
const HAS_READ =
  '[ -z "${__SA_REQUEST-}" ] || { echo "shell-adapter: $BASH_ENV cannot be read: start the daemon again" >&2; exit 126; }; ';
/** What bash reads from its environment at its start alone. */
const START_VARIABLES = /^(?:BASH.*|SHELLOPTS|SHLVL|POSIXLY_CORRECT|POSIX_PEDANTIC|IGNOREEOF|EMACS|UID|EUID|PPID)$/;

/** Whether a shell would not take all these variables from a request: it needs them in the environment of its start. */
export const needsOwnStart = (env: Readonly<Record<string, string>> = {}): boolean =>
  Object.keys(env).some((name) => START_VARIABLES.test(name));

/** Returns the arguments with which a shell runs a text. */
export function textArguments({ shell }: InstalledShell, text: string): readonly string[] {
  const { before, after } = runnerOf(shell);
  return [...before, text, ...after];
}

/** Whether a text is too long for an argument, and has to be run from a file. */
export const needsFile = (text: string): boolean => Buffer.byteLength(text) > MAX_ARGUMENT_BYTES;

/** Returns a text that runs the one in a file. */
export const textInFile = ({ shell }: InstalledShell, path: string): string => runnerOf(shell).runFile(path);

/** Returns how to start a process that waits for the request in a file. */
export function waitingShell({ shell, path }: InstalledShell, requestFile: string): WaitingShell {
  const { before, after } = runnerOf(shell);
  const start = ['exec', quote(path), ...before.map(quote), `"$${TEXT}"`, ...after.map(quote)].join(' ');
  if (shell.name !== 'bash') {
    return { file: '/bin/sh', args: ['-c', `${WAIT_IN_SH}; ${start}`, 'sh', requestFile], env: {} };
  }
  return {
    file: path,
    args: [...before, `${HAS_READ}${start}`.padEnd(ROOM_BYTES), ...after],
    env: { BASH_ENV: WAIT_IN_BASH, __SA_REQUEST: requestFile },
    textIndex: before.length,
  };
}

/** Returns the request for such a process, which it reads in its own shell. */
export function requestText({ text, cwd, env = {}, stdinFile, isMerged }: OneShotRequest): string {
  const steps = ['unset __sa __SA_REQUEST'];
  if (isMerged) steps.push('exec 2>&1');
  if (stdinFile !== undefined) steps.push(`exec <${quote(stdinFile)}`);
  if (cwd !== undefined) {
    const failure = `printf '%s: cannot enter the directory\\n' ${quote(cwd)} >&2; exit 126`;
    // A shell that is started in a directory has no OLDPWD, and exports the one that `cd` sets.
    steps.push(`cd -- ${quote(cwd)} 2>/dev/null || { ${failure}; }`, 'unset OLDPWD; export OLDPWD');
  }
  for (const [name, value] of Object.entries(env)) steps.push(`export ${name}=${quote(value)}`);
  return [...steps, `${TEXT}=${quote(text)}`].join('\n');
}

function runnerOf(shell: Shell): OneShotShell {
  // The default shell has this: see `findDefaultShell`.
  if (!shell.oneShot) throw new Error(`${shell.name} runs sessions alone`);
  return shell.oneShot;
}
