import { fileURLToPath } from 'node:url';

import {
  closingLauncher,
  type CommandSurroundings,
  type DriverRequest,
  type SentRequest,
  type Shell,
  type SurroundingText,
} from './shell.js';

const DRIVER = fileURLToPath(new URL('./drivers/driver.fish', import.meta.url));

/**
 * What fish cannot do itself: set the limit that is the session's mark (see session-mark.ts), and redirect its own
 * stderr (see driver.fish).
 */
const prepare = (option: string): string =>
  `ulimit -S -${option} "$__SA_MARK" 2>/dev/null; unset __SA_MARK; exec 2>>"$__SA_DIR/trap" || exit 71; `;

/** In single quotes, fish reads a backslash before a quote or a backslash as an escape. */
const quote = (text: string): string => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;

/** Runs instead of the command. (`set` does not change the status, unless it fails.) */
const insteadOfCommand = (text: string): string =>
  `begin; builtin printf '%s\\n' ${quote(text)} >$__sa_dir/instead; set -g __sa_cmd $__sa_dir/instead; end`;

function surroundByVariable([name, value]: readonly [string, string], index: number): SurroundingText {
  const failure = `builtin printf 'fish: %s cannot be set\\n' ${name} >&2; return 1`;
  return {
    before: [
      `set -g __sa_h${index} (set -qg ${name}; and builtin printf g) (set -qgx ${name}; and builtin printf x)`,
      `set -g __sa_v${index} $${name}`,
      `builtin true; set -gx ${name} ${quote(value)} 2>/dev/null; or ${insteadOfCommand(failure)}`,
    ].join('\n'),
    after: [
      `switch "$__sa_h${index}"`,
      `case ''; set -eg ${name}`,
      `case g; set -gu ${name} $__sa_v${index}`,
      `case '*'; set -gx ${name} $__sa_v${index}`,
      'end 2>/dev/null',
      `set -e __sa_h${index} __sa_v${index}`,
    ].join('\n'),
  };
}

function surroundByDirectory(cwd: string | undefined): SurroundingText {
  if (cwd === undefined) return { before: '', after: '' };
  const failure = `builtin printf '%s: cannot enter the directory\\n' ${quote(cwd)} >&2; return 126`;
  return {
    before: `set -g __sa_pwd $PWD; builtin cd ${quote(cwd)} 2>/dev/null; or ${insteadOfCommand(failure)}`,
    after: 'builtin cd $__sa_pwd',
  };
}

/** fish, 3.4 or later. */
export const fish: Shell = {
  name: 'fish',
  driver: DRIVER,
  showsVariables: false,
  programs: ['fish'],
  versionArgs: ['--version'],
  requestFd: undefined,
  takesRequestsOnce: true,
  session: (directory, isSandboxed) => ({
    launcher: closingLauncher(3, isSandboxed, prepare('x')) ?? ['/bin/sh', '-c', `${prepare('w')}exec "$@"`, 'sh'],
    args: ['--no-config', '--interactive', '--init-command', `source ${quote(DRIVER)}`],
    env: { __SA_DIR: directory },
  }),
  oneShot: { before: ['--no-config', '-c'], after: [], runFile: (path) => `source ${quote(path)}` },
  parseOnly: (text) => ['--no-config', '--no-execute', '-c', text],
  request: ({ mode, slot, number, nonce, text }: DriverRequest): SentRequest => ({
    line: `${mode} ${slot} ${number} ${nonce}\n`,
    file: text === undefined || mode === 's' || mode === 'r' ? undefined : text,
  }),
  surround: ({ cwd, env = {} }: CommandSurroundings) => {
    const parts = [...Object.entries(env).map(surroundByVariable), surroundByDirectory(cwd)];
    return {
      before: parts.map(({ before }) => before).join('\n'),
      after: parts.map(({ after }) => after).join('\n'),
    };
  },
  quote,
  setUp: ({ cwd, env = {} }) =>
    [
      ...Object.entries(env).map(([name, value]) => `set -gx ${name} ${quote(value)}`),
      ...(cwd === undefined ? [] : [`builtin cd ${quote(cwd)}`]),
    ].join('\n'),
  restore: (stateFile) => `builtin source ${quote(stateFile)}`,
  afterRestore: 'true',
  notRestored: 'jobs, local and universal variables, and variables above 4 MB together',
  recall: '\n',
};
