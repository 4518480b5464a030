import { fileURLToPath } from 'node:url';

import { parse } from 'unbash';

import {
  exits,
  framedRequest,
  insteadOfCommand,
  listsNames,
  POSIX_SETTING,
  quote,
  type Shell,
  surroundByDirectory,
  type SurroundingText,
} from './shell.js';

/*
 * Texts that the bash of a session would not run as a script does, since it is interactive and has a driver. They are
 * recognised by their words, and steps of the driver make up for it. Any other text costs nothing.
 */

/** What may end a script: unset variables, `${x?}`, and errors in POSIX mode. */
const ENDING = /\bset\b[^\n;|&]*(?:-[a-zA-Z]*u|nounset|posix)|\$\{[^}\n]*\?/;
/** What shows names in bash alone. */
const LISTING = /\bcompgen\b|\$\{!_/;
/** What may show the words by which the driver comes back. */
const LISTING_WORDS = /\bcompgen\s+-\w*[bk]/;
const TRAP_ON_EXIT = /\btrap\b[^\n]*\b(?:EXIT|0)\b/;
const LEAVING_A_LOOP = /\b(?:break|continue)\b/;
const LOOP = /\b(?:for|while|until|select)\b/;
const TRACING = /\bset\b[^\n;|&]*(?:-[a-zA-Z]*x|xtrace)/;

/** Descriptors in which bash keeps what a redirection replaces. */
const TAKING_NUMBERS = /\bexec\b[^\n]*\b1\d[<>]/;
const LASTPIPE = /\blastpipe\b/;

/** In a script a trace has one `+`, and `break` outside of a loop says so. */
const runsApart = (text: string): boolean => TRACING.test(text) || (LEAVING_A_LOOP.test(text) && !LOOP.test(text));
const lists = (text: string): boolean => listsNames(text, LISTING) && !LISTING_WORDS.test(text);

/** Errors of the parser that are about a `[[`. */
const IN_TEST = /'\]\]'|unary test|conditional operator|test group/;
/** What is open at the end of the text is an error like that of an open quote: a pattern, or all of the test. */
const OPEN_PATTERN = /=~[^)]*\([^)]*$/;
const isOpen = (test: string): boolean => !test.includes(']]') && !test.trimEnd().includes('\n');

/**
 * Returns the line of the first `[[` that does not parse, counted from 0. `bash -c` ends there with the exit code of the command
 * before, where other errors of syntax have one of their own.
 */
function lineOfUnparsedTest(text: string): number | undefined {
  if (!text.includes('[[')) return undefined;
  for (const { message, pos } of parse(text).errors ?? []) {
    const start = text.lastIndexOf('[[', pos);
    const isWithin = start !== -1 && (IN_TEST.test(message) || text.lastIndexOf(']]', pos - 1) < start);
    if (isWithin && !OPEN_PATTERN.test(text.slice(start, pos)) && !isOpen(text.slice(start)))
      return text.slice(0, start).split('\n').length - 1;
  }
  return undefined;
}

/** The steps of the driver, in their order, and the texts that need them. */
const STEPS: readonly (readonly [step: string, isFor: (text: string) => boolean])[] = [
  ['__sa_make_whole', (text) => ENDING.test(text) || (lists(text) && runsApart(text))],
  ['__sa_note_exit_trap', (text) => TRAP_ON_EXIT.test(text) && exits(text)],
  ['__sa_without_jobs', (text) => LASTPIPE.test(text)],
  ['__sa_free_numbers', (text) => TAKING_NUMBERS.test(text)],
  ['__sa_hide', lists],
  ['__sa_run_apart', runsApart],
];

/** Returns the steps of the driver before a command that its words make necessary. */
export function stepsBefore(text: string): readonly string[] {
  const line = lists(text) ? undefined : lineOfUnparsedTest(text);
  const steps = STEPS.flatMap(([step, isFor]) => (isFor(text) ? [step] : []));
  return line === undefined ? steps : [`__sa_keep_code ${line}`, ...steps];
}

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
  driver: DRIVER,
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
  parseOnly: (text) => ['--noprofile', '--norc', '-O', 'extglob', '-n', '-c', text, 'bash'],
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
