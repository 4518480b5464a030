import { fileURLToPath } from 'node:url';

import {
  closingLauncher,
  type DriverRequest,
  listsNames,
  POSIX_SETTING,
  quote,
  type SentRequest,
  type Shell,
  surroundByPrefix,
} from './shell.js';

const DRIVER = fileURLToPath(new URL('./drivers/driver.sh', import.meta.url));

/** Redirections of the command. The shell's own descriptors refer to the terminal, except for its input. */
const REDIRECTIONS: Readonly<Record<string, string>> = {
  o: '<&1 >"$__sa_slot.out" 2>"$__sa_slot.err"',
  i: '<"$__sa_slot.in" >"$__sa_slot.out" 2>"$__sa_slot.err"',
  t: '<&1 1>&2 2>&1',
  u: '<"$__sa_slot.in" 1>&2 2>&1',
};

/** Before a command that shows names: the driver puts its own aside. */
const HIDE = `__sa_hiding='{ \\__sa_hide "$?" && :; } 2>/dev/null; '`;

const EVALUATE = '\\eval "$__sa_set$__sa_hiding$__sa_cmd"';
/** The variables for this command alone precede it: `command` makes them temporary. */
const EVALUATE_WITH = `\\eval "$__sa_env"' \\command ${EVALUATE}'`;

/** Returns the line of a file that runs a command. */
function commandFile({ mode, slot, number, nonce, text = '' }: DriverRequest): string {
  const channel = mode.toLowerCase();
  const isOnTerminal = channel === 't' || channel === 'u';
  return [
    `__sa_cmd=${quote(text)}`,
    `\\__sa_in ${mode} ${slot} ${number} ${nonce}`,
    // `&& :` keeps the status, and prevents `set -e` from ending the shell for it.
    '\\__sa_rc "$__sa_st" && :',
    `${mode === channel ? EVALUATE : EVALUATE_WITH} ${REDIRECTIONS[channel] ?? ''}`,
    isOnTerminal ? '{ \\__sa_end "$?"; } 2>/dev/null' : '\\__sa_end "$?"',
    // After the report the file may be overwritten: the shell must not read on in it.
    '\\return',
  ].join('; ');
}

/**
 * Returns a line for the shell's own command loop, which sources the command's file. It ends with the nonce, which is
 * in the pipe until the whole line is read: the shell reads single characters.
 */
function requestLine({ mode, slot, nonce }: DriverRequest): string {
  const steps: Readonly<Record<string, string>> = {
    s: '\\__sa_save',
    r: '\\__sa_tidy; \\__sa_save',
    q: '\\exit 0',
  };
  return `\\__sa_late "$?"; ${steps[mode] ?? `\\. "$__sa_dir/${slot}.cmd"`} # ${nonce}\n`;
}

/** The lowest descriptor that sh cannot name, and so cannot close. */
const FIRST_UNNAMED = 10;

/** POSIX sh as in Debian (dash) and BusyBox (ash). Where `sh` is bash in POSIX mode, use bash. */
export const sh: Shell = {
  name: 'sh',
  driver: DRIVER,
  showsVariables: false,
  programs: ['dash', 'sh'],
  versionArgs: [],
  requestFd: 0,
  session: (directory, isSandboxed) => ({
    launcher: closingLauncher(FIRST_UNNAMED, isSandboxed) ?? [],
    args: ['-i', '-s', '-c', `__sa_home() { __sa_dir=${quote(directory)}; }; . ${quote(DRIVER)}`, 'sh'],
    env: { __SA_DIR: directory },
  }),
  oneShot: { before: ['-c'], after: ['sh'], runFile: (path) => `eval "$(cat ${quote(path)})"` },
  parseOnly: (text) => ['-n', '-c', text, 'sh'],
  request: (request): SentRequest => ({
    line: requestLine(request),
    file: request.text === undefined ? undefined : commandFile(request),
  }),
  stepsBefore: (text) => (listsNames(text) ? [HIDE] : []),
  surround: (surroundings) => surroundByPrefix(surroundings, { cd: 'command cd' }),
  notRestored: 'functions, jobs, positional parameters and open descriptors',
  restore: (stateFile, part) =>
    part === 'variables' ? `\\__sa_take_variables <${quote(stateFile)}` : `\\. ${quote(stateFile)}`,
  recall: '',
  losesInterruptOfHalfPipeline: true,
  reportLine: '\\__sa_late "$?"\n',
  ...POSIX_SETTING,
};
