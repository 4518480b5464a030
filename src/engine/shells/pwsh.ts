import { fileURLToPath } from 'node:url';

import { quotePowerShell as quote, sourcePowerShell } from '../../core/powershell-text.js';
import {
  closingLauncher,
  type CommandSurroundings,
  type DriverRequest,
  type SentRequest,
  type Shell,
} from './shell.js';

const DRIVER = fileURLToPath(new URL('./drivers/driver.ps1', import.meta.url));

/**
 * What pwsh cannot do itself: set the limit that is the session's mark (see session-mark.ts). stdout and TERM are those
 * with which it writes no control sequences (see driver.ps1).
 */
const prepare = (option: string): string =>
  `ulimit -S -${option} "$__SA_MARK" 2>/dev/null; unset __SA_MARK; export __SA_TERM="$TERM" TERM=dumb; exec >/dev/null; `;

/** Exits with 1 if a text has errors of syntax. Source: Parser.ParseInput of System.Management.Automation.Language. */
const syntaxCheck = (text: string): string =>
  [
    '$tokens = $null; $faults = $null',
    `[void] [System.Management.Automation.Language.Parser]::ParseInput(${quote(text)}, [ref] $tokens, [ref] $faults)`,
    'exit [int] ($faults.Count -gt 0)',
  ].join('; ');

/** PowerShell, 7.4 or later. It runs sessions, and no commands without one. */
export const pwsh: Shell = {
  name: 'pwsh',
  driver: DRIVER,
  isUntested: true,
  showsVariables: false,
  programs: ['pwsh'],
  versionArgs: ['--version'],
  requestFd: undefined,
  session: (directory, isSandboxed) => ({
    launcher: closingLauncher(3, isSandboxed, prepare('x')) ?? ['/bin/sh', '-c', `${prepare('w')}exec "$@"`, 'sh'],
    args: ['-NoLogo', '-NoProfile', '-NoExit', '-File', DRIVER],
    // They stay: what a command starts need not look for news either.
    env: { __SA_DIR: directory, POWERSHELL_UPDATECHECK: 'Off', POWERSHELL_TELEMETRY_OPTOUT: '1' },
  }),
  oneShot: undefined,
  parseOnly: (text) => ['-NoLogo', '-NoProfile', '-NonInteractive', '-Command', syntaxCheck(text)],
  request: ({ mode, slot, number, nonce, text }: DriverRequest): SentRequest => ({
    line: `${mode}${slot}${number}${nonce}\n`,
    file: text === undefined || mode === 's' || mode === 'r' ? undefined : text,
  }),
  surround: ({ cwd, env = {} }: CommandSurroundings) => ({
    before: [
      ...Object.entries(env).map(([name, value]) => `__sa_env ${quote(name)} ${quote(value)}`),
      ...(cwd === undefined ? [] : [`__sa_enter ${quote(cwd)}`]),
    ].join('\n'),
    // The driver undoes what these have done.
    after: '',
  }),
  quote,
  // A program, and no cmdlet or alias: the policy judges it by its name.
  run: ([program = '', ...args]) => [`& (__sa_program ${quote(program)})`, ...args.map(quote)].join(' '),
  setUp: ({ cwd, env = {} }) =>
    [
      ...Object.entries(env).map(([name, value]) => `__sa_export ${quote(name)} ${quote(value)}`),
      ...(cwd === undefined ? [] : [`Microsoft.PowerShell.Management\\Set-Location -LiteralPath ${quote(cwd)}`]),
    ].join('\n'),
  restore: (stateFile) => sourcePowerShell(quote(stateFile)),
  afterRestore: '$null = 0',
  notRestored:
    'jobs, modules, events, and variables that are objects of other types than texts, numbers, dates and lists of them',
  recall: '\n',
};
