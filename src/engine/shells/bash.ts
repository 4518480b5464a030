import { fileURLToPath } from 'node:url';

import { framedRequest, quote, type Shell, type SurroundingText } from './shell.js';
import { stepsBefore } from './bash-cases.js';
import { insteadOfCommand, POSIX_SETTING, surroundByDirectory } from './surround.js';

const DRIVER = fileURLToPath(new URL('./drivers/driver.bash', import.meta.url));

/** Exports a variable for one command; `builtin NAME=value` would not reach the command's own children. */
function surroundByVariable(name: string, value: string, index: number): SurroundingText {
  const failure = `builtin printf 'bash: %s: readonly variable\\n' ${name} >&2; __sa_rc 1`;
  return {
    before: [
      `__sa_h${index}=\${${name}+s} __sa_v${index}=\${${name}-} __sa_e${index}=`,
      `[[ -n $__sa_h${index} && \${${name}@a} == *x* ]] && __sa_e${index}=1`,
      `builtin export ${name}=${quote(value)} || ${insteadOfCommand(failure)}`,
    ].join('\n'),
    after: [
      `if [[ -z $__sa_h${index} ]]; then builtin unset -v ${name}`,
      `else builtin printf -v ${name} %s "$__sa_v${index}"; [[ -n $__sa_e${index} ]] || builtin export -n ${name}; fi`,
    ].join('\n'),
  };
}

/** GNU bash, 4.4 or later. */
export const bash: Shell = {
  name: 'bash',
  showsVariables: true,
  programs: ['bash'],
  versionArgs: ['--version'],
  requestFd: 100,
  session: (directory) => ({
    args: ['--noprofile', '--noediting', '--rcfile', DRIVER, '-i'],
    env: { __SA_DIR: directory },
  }),
  // Without `--norc` it reads ~/.bashrc where its input is a socket, as if rshd(8) had started it.
  oneShot: { before: ['--norc', '-c'], after: ['bash'], runFile: (path) => `eval "$(<${quote(path)})"` },
  parseOnly: (text) => ['--noprofile', '--norc', '-O', 'extglob', '-n', '-c', text],
  request: framedRequest,
  stepsBefore,
  surround: ({ cwd, env = {}, steps = [] }) => {
    const directory = surroundByDirectory(cwd, 'builtin cd');
    const variables = Object.entries(env).map(([name, value], index) => surroundByVariable(name, value, index));
    return {
      before: [...variables.map(({ before }) => before), directory.before, ...steps].join('\n'),
      after: [...variables.map(({ after }) => after), directory.after].join('\n'),
    };
  },
  // The end of a sourced file would run a trap on RETURN.
  restore: (stateFile) => `builtin mapfile -d "" -t -n 1 __sa_k <${quote(stateFile)}; builtin eval "$__sa_k"`,
  notRestored: 'jobs, positional parameters, open descriptors, and variables above 1 MB or 4 MB together',
  recall: '__sa_code=${__sa_code:-$?} PROMPT_COMMAND=$__sa_prompt\n',
  ...POSIX_SETTING,
  // A bash that starts in a directory exports the OLDPWD that `cd` sets.
  setUp: (setting) => POSIX_SETTING.setUp(setting) + (setting.cwd === undefined ? '' : ' && export OLDPWD'),
};
