import { existsSync } from 'node:fs';

/** Variables and a directory for one command alone. */
export interface CommandSurroundings {
  /**
   * Steps of the driver, which follow.
   * @default none
   */
  readonly steps?: readonly string[];
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** Text that the driver runs before and after a command. */
export interface SurroundingText {
  readonly before: string;
  readonly after: string;
}

/** A request to a driver; the drivers define its meaning. */
export interface DriverRequest {
  /**
   * o: stdout and stderr apart, i: the same with a given stdin, t: everything on the terminal, u: the same with a given
   * stdin; in capitals when there is text around the command. s: save the state, r: restore the terminal's modes too.
   * q: exit.
   */
  readonly mode: string;
  /** Name of the command's files, 3 digits. */
  readonly slot: string;
  /** The command's number, 6 digits. */
  readonly number: string;
  /** Identifies the report, 22 characters. */
  readonly nonce: string;
  /** Text of the command; for `s`, names of variables, at most 3000 characters; undefined for requests without any. */
  readonly text?: string;
}

/** A request as a driver receives it. */
export interface SentRequest {
  /** Characters for the driver's pipe. Of these the driver reads the nonce only when it takes the request. */
  readonly line: string;
  /** Content of the slot's file, which the driver reads after the line; undefined when it does not. */
  readonly file: string | undefined;
}

/** Part of a saved state, by its place: see `DRIVER_FILES`. */
export type StatePart = 'variables' | 'state' | 'settings';

/**
 * Files that drivers write, in the directory of their FIFOs. A state has three parts with the same number: `variables`
 * and what comes before functions, `state`, which the daemon reads too, and `settings`, which would disturb the others.
 */
export const DRIVER_FILES: readonly string[] = [
  ...['variables.0', 'variables.1', 'state.0', 'state.1', 'settings.0', 'settings.1'],
  ...['list', 'trap', 'loop', 'modes', 'instead', 'hidden', 'read'],
];

/** How a program is started. */
interface ShellInvocation {
  readonly args: readonly string[];
  /** Variables that the start needs; the driver removes them. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Program, with its arguments, that execs the shell.
   * @default none
   */
  readonly launcher?: readonly string[];
}

/** How a shell runs the text of a command that has no session. */
export interface OneShotShell {
  /** Arguments before the text. */
  readonly before: readonly string[];
  /** Arguments behind it: the name that is `$0`, where the shell takes one. */
  readonly after: readonly string[];
  /** Returns a text that runs the text in a file, for one that is too long for an argument. */
  runFile(path: string): string;
}

/** Description of one shell for the engine. Each takes one file and one entry in `shells/list.ts`. */
export interface Shell {
  /** Name that clients use. */
  readonly name: string;
  /**
   * Whether no test has run the driver in this shell: it is written from the shell's documentation.
   * @default false
   */
  readonly isUntested?: boolean;
  /** Path of the driver that its sessions run. */
  readonly driver: string;
  /** File names to search on PATH, in this order. */
  readonly programs: readonly string[];
  /** Arguments that make the shell print its version; empty when it has no such option. */
  readonly versionArgs: readonly string[];
  /**
   * Returns how to start an interactive shell that runs the driver, and sets the session mark from `__SA_MARK`.
   * `directory` holds its FIFOs.
   */
  session(directory: string, isSandboxed: boolean): ShellInvocation;
  /** How the shell runs a text without a session; undefined for a shell that runs sessions alone. */
  readonly oneShot: OneShotShell | undefined;
  /**
   * Returns arguments with which the shell parses a text without executing it (set -n). Syntax that requires an option
   * is accepted: a session may have set it.
   */
  parseOnly(text: string): readonly string[];
  /**
   * Descriptor from which the driver reads requests. While a command runs it is closed, or redirected: as long as it
   * refers to the request pipe, the command has not started, or the shell has left it. Undefined when the number is not
   * fixed: then any descriptor counts.
   */
  readonly requestFd: number | undefined;
  /** Returns a request in the format that the driver reads. */
  request(request: DriverRequest): SentRequest;
  /** Whether a saved state shows the values of the variables that the request for it names. */
  readonly showsVariables: boolean;
  /**
   * Returns the steps of the driver before a text that the shell would not run as a script does.
   * @default none for any text
   */
  readonly stepsBefore?: (text: string) => readonly string[];
  /** Returns text around one command of a session. */
  surround(surroundings: CommandSurroundings): SurroundingText;
  /** Quotes text so that the shell reads it as one word. */
  quote(text: string): string;
  /**
   * Returns text that runs a program with arguments.
   * @default the quoted words
   */
  readonly run?: (words: readonly string[]) => string;
  /** Returns text that exports variables and enters a directory, for good. Its exit code is that of the last step. */
  setUp(setting: CommandSurroundings): string;
  /** Returns the command that restores a part of a saved state. */
  restore(stateFile: string, part: StatePart): string;
  /** Command that follows a restored state. */
  readonly afterRestore: string;
  /** What of a shell cannot be restored, as a part of a sentence. */
  readonly notRestored: string;
  /** Terminal input that recovers a shell which has returned to a prompt that is not the driver's. */
  readonly recall: string;
  /**
   * Whether a pipeline goes on if an interrupt ends its first programs before the shell has started the last one.
   * @default false
   */
  readonly losesInterruptOfHalfPipeline?: boolean;
  /**
   * Line for the request pipe at which an idle shell reports a command that it has not reported, since interrupts have
   * cut that short as well. Undefined for drivers that need none.
   */
  readonly reportLine?: string;
  /**
   * Whether the driver runs a request once that is written twice. It then gets the last one again when it is back at its prompt: an
   * interrupt may have met it in the middle of the request.
   * @default false
   */
  readonly takesRequestsOnce?: boolean;
}

/** Longest text in a request, in characters: a request must fit into PIPE_BUF (4096 bytes), to be written at once. */
const MAX_INLINE_TEXT = 3000;
/** Texts in which characters are bytes, in every locale. Drivers read a number of characters. */
// oxlint-disable-next-line no-control-regex -- Only NUL cannot be in a shell's variable.
const ASCII_TEXT = /^[\x01-\x7f]+$/;
const LENGTH_DIGITS = 4;

/**
 * Returns a request for drivers that can read a fixed number of characters: `>`, mode, slot, number and the length of
 * the body, then the body: `<`, the nonce, and the text if it is short.
 */
export function framedRequest({ mode, slot, number, nonce, text }: DriverRequest): SentRequest {
  const isInline = text !== undefined && text.length <= MAX_INLINE_TEXT && ASCII_TEXT.test(text);
  const body = `<${nonce}${isInline ? text : ''}`;
  const length = String(body.length).padStart(LENGTH_DIGITS, '0');
  return { line: `>${mode}${slot}${number}${length}${body}`, file: isInline ? undefined : text };
}

/** Quotes text so that any POSIX shell reads it as one word. */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const BASH = '/bin/bash';

/**
 * Returns a program that closes inherited descriptors and execs the shell. node-pty leaks some descriptors of other
 * sessions, whose terminals must stay private; some shells cannot close them. Therefore bash does, where it is
 * available. (`-p`: it reads no start-up file of the user.) In a sandbox the process group of the shell's parent does
 * not exist, and dash fails when it gives the terminal back to it: an interactive bash creates its own process group
 * first.
 * @param first the lowest descriptor that is closed
 * @param before a command that runs before the shell
 * @returns undefined when there is no bash
 */
export function closingLauncher(first: number, isSandboxed: boolean, before = ''): readonly string[] | undefined {
  if (!existsSync(BASH)) return undefined;
  // In the words of bash 3.2, which macOS has.
  const close = `for fd in /dev/fd/*; do fd=\${fd##*/}; if ((fd >= ${first})); then eval "exec $fd>&-"; fi; done`;
  const script = `${before}${close}; unset fd SHLVL; exec "$@"`;
  return [BASH, '--norc', ...(isSandboxed ? ['-i'] : []), '-p', '-c', script, 'bash'];
}

/** What shows names of functions and variables in every shell. */
const LISTING = new RegExp(
  [
    String.raw`\b(?:declare|typeset|export|readonly|local)\b(?=\s+-\w*[pfF]|\s*(?:$|[|;&)<>\n]))`,
    String.raw`\b(?:set|alias)\b(?=\s*(?:$|[|;&)<>\n]))`,
    String.raw`\btype\b|\bcommand\s+-[vV]`,
  ].join('|'),
  'm',
);
const EXIT = /\bexit\b/;
/** What asks about the name `exit` alone does not call it. */
const ASKING_ABOUT_EXIT = /\b(?:type|whence|which|where|command\s+-[vV])\b[^\n;|&]*\bexit\b/g;
/** What may change the words by which a driver comes back. */
const CHANGING_NAMES = /\b(?:enable|disable|eval)\b|\balias\b(?!\s*(?:$|[|;&)<>\n]))/m;

/** Whether a text calls `exit`, for which a session needs its driver. */
export const exits = (text: string): boolean => EXIT.test(text.replaceAll(ASKING_ABOUT_EXIT, ''));

/**
 * Whether a text shows names of functions and variables, and the driver can hide its own meanwhile.
 * @param more what shows names in one shell alone
 */
export const listsNames = (text: string, more?: RegExp): boolean =>
  (LISTING.test(text) || more?.test(text) === true) && !exits(text) && !CHANGING_NAMES.test(text);

/** Returns text that makes the driver run something else instead of the command. */
export const insteadOfCommand = (text: string): string => `__sa_cmd=${quote(text)}`;

/**
 * Returns text that enters a directory for one command. The driver has the command in `__sa_cmd`, and `__sa_rc N` sets
 * the status N.
 * @param cd the shell's builtin cd, regardless of functions with that name
 */
export function surroundByDirectory(cwd: string | undefined, cd: string): SurroundingText {
  if (cwd === undefined) return { before: '', after: '' };
  const failure = `printf '%s: cannot enter the directory\\n' ${quote(cwd)} >&2; __sa_rc 126`;
  return {
    before: `__sa_pwd=\${PWD-} __sa_old=\${OLDPWD-}; ${cd} -- ${quote(cwd)} || ${insteadOfCommand(failure)}`,
    after: `${cd} -- "$__sa_pwd"; OLDPWD=$__sa_old`,
  };
}

/** Shell-specific parts of `surroundByPrefix`. */
interface PrefixDialect {
  /** The shell's builtin cd, regardless of functions with that name. */
  readonly cd: string;
  /** Exports variables within the command, for shells that do not export those in front of a builtin. */
  readonly export?: string;
}

/**
 * Returns text around a command for shells in which `NAME=value builtin` sets a variable for that builtin alone: the
 * driver puts `__sa_env` in front of the command's `eval`, and `__sa_set` in front of its text.
 */
export function surroundByPrefix(
  { cwd, env = {}, steps: ownSteps = [] }: CommandSurroundings,
  dialect: PrefixDialect,
): SurroundingText {
  const assignments = Object.entries(env).map(([name, value]) => `${name}=${quote(value)}`);
  const steps = [`__sa_env=${quote(assignments.join(' '))}`];
  if (dialect.export !== undefined && assignments.length > 0) {
    steps.push(`__sa_set="${dialect.export} ${Object.keys(env).join(' ')}; $__sa_set"`);
  }
  const { before, after } = surroundByDirectory(cwd, dialect.cd);
  return { before: [...steps, before, ...ownSteps].join('\n'), after };
}

/** How POSIX shells are set up. */
export const POSIX_SETTING: Pick<Shell, 'quote' | 'setUp' | 'afterRestore'> = {
  quote,
  setUp: ({ cwd, env = {} }) =>
    [
      ...Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}`),
      ...(cwd === undefined ? [] : [`cd -- ${quote(cwd)} && unset OLDPWD`]),
    ].join('\n'),
  // What a failure has ended would end again at the next one.
  afterRestore: 'set +e',
};
