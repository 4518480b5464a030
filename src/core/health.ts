import type { SessionWarningCode } from './warnings.js';

/** Facts about a session's environment while nothing runs in it. */
export interface HealthFacts {
  readonly shell: 'bash' | 'zsh' | 'sh' | 'fish' | 'pwsh';
  readonly workingDirectory: string;
  /** Whether the current directory can still be entered. */
  readonly isDirectoryThere: boolean;
  readonly aliases: ReadonlyMap<string, string>;
  /** Functions with their bodies. */
  readonly functions: ReadonlyMap<string, string>;
  /** Letters of the shell's options, as `$-` gives them. */
  readonly options: string;
  /** Tools that were on PATH when the session began, and no longer are. */
  readonly missingTools: readonly string[];
  /** Size of all exported variables, in bytes. */
  readonly environmentBytes: number;
  /** Terminal modes that a command has left and that have since been reset, as stty(1) names them. */
  readonly leftModes: readonly string[];
  readonly leftProcesses: number;
  /** Space on the disk of the workspace, in bytes; undefined when it is unknown. */
  readonly disk: { readonly freeBytes: number; readonly totalBytes: number } | undefined;
}

/** Programs on which ordinary commands rely. */
export const CORE_TOOLS = ['ls', 'cat', 'cp', 'mv', 'rm', 'mkdir', 'grep', 'sed', 'env'] as const;

/** Commands whose usual meaning other commands assume: the tools, and builtins. driver.sh has the same list. */
const RELIED_ON: readonly string[] = [
  ...CORE_TOOLS,
  ...['cd', 'echo', 'printf', 'test', '[', 'pwd', 'export', 'read', 'find', 'git', 'sudo'],
];

/** A condition of a session that will make unrelated commands fail. */
export interface HealthWarning {
  readonly code: SessionWarningCode;
  /** The problem, and what to do. */
  readonly message: string;
}

/** This many remaining processes are unlikely to be intended. */
const MANY_PROCESSES = 20;
/** Linux limits each argument and environment string of a program to 128 KiB, and their sum to some MiB. */
const LARGE_ENVIRONMENT_BYTES = 128 * 1024;
/** A disk is low when both values fall below their thresholds. */
const LOW_DISK_BYTES = 256 * 1024 * 1024;
const LOW_DISK_SHARE = 0.05;
const MAX_NAMES = 5;

const MIB = 1024 * 1024;

/** Options that change the behaviour of all later commands: letter in `$-`, name, effect. */
const OPTIONS = [
  ['e', 'errexit', 'the first command that fails ends what runs'],
  ['u', 'nounset', 'unset variables are errors'],
  ['f', 'noglob', 'patterns such as *.txt are not expanded'],
  ['n', 'noexec', 'commands are read and not run'],
  ['C', 'noclobber', '> overwrites no file'],
] as const;
/** zsh uses another letter for this option. */
const ZSH_NOGLOB = 'F';

const list = (names: readonly string[]): string =>
  names.length <= MAX_NAMES
    ? names.join(', ')
    : `${names.slice(0, MAX_NAMES).join(', ')} and ${names.length - MAX_NAMES} more`;

const RESET = 'reset_session starts afresh under the same id';

function checkDirectory({ isDirectoryThere, workingDirectory }: HealthFacts): HealthWarning | undefined {
  if (isDirectoryThere) return undefined;
  return {
    code: 'DIRECTORY_GONE',
    message: `The working directory ${workingDirectory} is not there any more: relative paths fail. Use cd, or cwd with the next command`,
  };
}

function checkPath({ missingTools }: HealthFacts): HealthWarning | undefined {
  if (missingTools.length === 0) return undefined;
  return {
    code: 'PATH_BROKEN',
    message: `PATH leads to no ${list(missingTools)} any more. Set it again with export PATH=…; ${RESET}`,
  };
}

/** Whether an alias or a function of this name still runs the command of this name. */
function wraps(name: string, body: string): boolean {
  const escaped = name.replace(/[.*+?^${}()|[\]\\]/gu, '\\$&');
  return new RegExp(`(?:command|builtin|\\\\)\\s*${escaped}(?![\\w-])`, 'u').test(body);
}

function checkShadows({ aliases, functions }: HealthFacts): HealthWarning | undefined {
  const shadowed = RELIED_ON.filter((name) => {
    const alias = aliases.get(name);
    if (alias !== undefined && alias.trim().split(/\s/u)[0] !== name && !wraps(name, alias)) return true;
    const body = functions.get(name);
    return body !== undefined && !wraps(name, body);
  });
  if (shadowed.length === 0) return undefined;
  return {
    code: 'COMMANDS_SHADOWED',
    message: `Functions or aliases stand before ${list(shadowed)}. unset -f or unalias takes them away; ${RESET}`,
  };
}

function checkOptions({ options, shell }: HealthFacts): HealthWarning | undefined {
  const isSet = (letter: string) => options.includes(shell === 'zsh' && letter === 'f' ? ZSH_NOGLOB : letter);
  const set = OPTIONS.filter(([letter]) => isSet(letter));
  if (set.length === 0) return undefined;
  const effects = set.map(([, name, effect]) => `${name} (${effect})`).join(', ');
  const off = set.map(([, name]) => `set +o ${name}`).join('; ');
  return {
    code: 'SHELL_OPTIONS',
    message: `The shell's options are on for every command that follows: ${effects}. ${off}`,
  };
}

function checkModes({ leftModes }: HealthFacts): HealthWarning | undefined {
  if (leftModes.length === 0) return undefined;
  return {
    code: 'TERMINAL_MODES',
    message: `A command has left the terminal in other modes (${leftModes.join(' ')}), which were put right. What needs them has to set them in the same command`,
  };
}

function checkProcesses({ leftProcesses }: HealthFacts): HealthWarning | undefined {
  if (leftProcesses < MANY_PROCESSES) return undefined;
  return {
    code: 'PROCESSES_LEFT',
    message: `Commands have left ${leftProcesses} processes running. They end with the session; kill those that are not needed`,
  };
}

function checkEnvironment({ environmentBytes }: HealthFacts): HealthWarning | undefined {
  if (environmentBytes < LARGE_ENVIRONMENT_BYTES) return undefined;
  const size = Math.round(environmentBytes / 1024);
  return {
    code: 'ENVIRONMENT_LARGE',
    message: `Exported variables take ${size} KiB: programs may fail with "Argument list too long". export -n or unset the large ones`,
  };
}

function checkDisk({ disk }: HealthFacts): HealthWarning | undefined {
  if (!disk || disk.freeBytes >= LOW_DISK_BYTES || disk.freeBytes >= disk.totalBytes * LOW_DISK_SHARE) return undefined;
  return {
    code: 'DISK_LOW',
    message: `The disk of the working directory has ${(disk.freeBytes / MIB).toFixed(1)} MiB left. Remove what is not needed`,
  };
}

const CHECKS = [
  checkDirectory,
  checkPath,
  checkShadows,
  checkOptions,
  checkModes,
  checkProcesses,
  checkEnvironment,
  checkDisk,
];

export const checkHealth = (facts: HealthFacts): HealthWarning[] =>
  CHECKS.map((check) => check(facts)).filter((warning) => warning !== undefined);

/**
 * A mode that is set in a terminal in its normal state: its bit in a field of termios(3), and stty(1)'s notation for
 * the unset mode.
 */
const MODES_IN_ORDER = [
  { field: 0, bit: 0o400, name: '-icrnl' },
  { field: 1, bit: 0o1, name: '-opost' },
  { field: 1, bit: 0o4, name: '-onlcr' },
  { field: 3, bit: 0o1, name: '-isig' },
  { field: 3, bit: 0o2, name: '-icanon' },
  { field: 3, bit: 0o10, name: '-echo' },
] as const;

/** Fields of input, output, control and local modes, as `stty -g` of the GNU coreutils prints them: hexadecimal. */
const LINE = /^[0-9a-f]+:[0-9a-f]+:[0-9a-f]+:[0-9a-f]+:/u;

/**
 * Terminal modes that differ from the normal state, as stty(1) names them.
 * @param text lines of `stty -g`; other lines are ignored
 */
export function disturbedModes(text: string): string[] {
  const found = text.split('\n').filter((line) => LINE.test(line));
  const fields = found.map((line) => line.split(':', 4).map((field) => Number.parseInt(field, 16)));
  return MODES_IN_ORDER.filter(({ field, bit }) => fields.some((modes) => ((modes[field] ?? bit) & bit) === 0)).map(
    ({ name }) => name,
  );
}
