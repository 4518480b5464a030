import type { Argument } from '../../words/argument.js';
import { hasOption, valueOfOption } from '../../subject/options.js';
import { flags, type ProgramCall, valued } from '../../subject/program-spec.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';
import { RUNNING_SETTING } from './judge.js';

/** Options of `git config`. Source: git-config(1). */
export const CONFIG_OPTIONS = {
  ...flags('--get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool -l --list'),
  ...flags('--add --unset --unset-all --replace-all --rename-section --remove-section -e --edit'),
  ...flags('--global --system --local --worktree -z --null --name-only --show-names --show-origin --show-scope'),
  ...flags('--bool --int --bool-or-int --bool-or-str --path --expiry-date --no-type --includes --no-includes'),
  ...flags('--fixed-value --all --regexp --append'),
  ...valued('-f --file --blob --type -t --default --comment --value --url'),
} as const;

/** Options with which `git config` only reads. */
const READING_OPTIONS = ['--get', '--get-all', '--get-regexp', '--get-urlmatch', '--get-color', '--get-colorbool'];
/** Options with which it changes something, though it is given one name only. */
const CHANGING_OPTIONS = ['--add', '--unset', '--unset-all', '--replace-all', '--remove-section', '-e', '--edit'];
/** Its subcommands, which older versions have as options. */
const CONFIG_VERBS = /^(?:list|get|set|unset|rename-section|remove-section|edit)$/;

/** `git config`: settings that run programs later, or that apply to all repositories. */
export function judgeGitConfig(subject: CommandAnalysis, call: ProgramCall): void {
  const { args, operands } = call;
  if (args.some(({ shape }) => /extraheader|\.helper$|password|token/i.test(shape)))
    subject.add('exfiltration', 'git config shows or sets credentials');
  const verb = verbOf(operands);
  const names = verb === '' ? operands : operands.slice(1);
  const isReading = readsConfig(call, verb, names);
  const file = valueOfOption(call, '-f', '--file');
  if (file && isReading) subject.read(file);
  else if (file) subject.write(file);
  if (!isReading) judgeChange(subject, call, verb, names);
}

const verbOf = ([first]: readonly Argument[]): string => CONFIG_VERBS.exec(first?.value ?? '')?.[0] ?? '';

function judgeChange(subject: CommandAnalysis, call: ProgramCall, verb: string, names: readonly Argument[]): void {
  const running = names.find(mayRunProgram);
  if (running) subject.add('persistence', `git will run a program that a setting names: ${running.text}`);
  if (/^(?:rename-section|edit)$/.test(verb) || hasOption(call, '--rename-section', '-e', '--edit'))
    subject.add('persistence', 'git config may change settings with which git runs programs');
  if (hasOption(call, '--global', '--system') && names.length > 1)
    subject.add('persistence', 'git config changes a setting for all repositories');
}

/** Whether settings are shown: with an option or a subcommand for it, or when only a name is given. */
function readsConfig(call: ProgramCall, verb: string, names: readonly Argument[]): boolean {
  const isChanging = hasOption(call, ...CHANGING_OPTIONS, '--rename-section');
  if (isChanging || names.some(({ maySplit, value }) => maySplit && value === undefined)) return false;
  if (hasOption(call, ...READING_OPTIONS)) return true;
  if (hasOption(call, '-l', '--list') || /^(?:list|get)$/.test(verb)) return names.length < 2;
  return verb === '' && names.length < 2;
}

const mayRunProgram = ({ value }: Argument): boolean => value === undefined || RUNNING_SETTING.test(value);
