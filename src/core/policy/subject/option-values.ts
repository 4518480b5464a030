import type { Argument } from '../words/argument.js';
import type { CommandClass } from '../model/classes.js';
import { kindOf } from '../paths/path-kinds.js';
import { resolvePath } from '../paths/paths.js';
import type { CommandAnalysis } from './command-analysis.js';
import { judgeSource } from './inline-source.js';
import { isHarmlessValue, tailOf } from './options.js';
import type { OptionSpec, ValueRole } from './program-spec.js';

/** What a program of a class does, where its table has no other reason. */
export const CLASS_DESCRIPTIONS: Readonly<Partial<Record<CommandClass, string>>> = {
  write: 'changes files',
  execute: 'runs a program',
  network: 'uses the network',
  destructive: 'deletes or ends something',
  privilege: 'changes the whole machine',
  persistence: 'changes what runs later',
  exfiltration: 'sends data away',
  obfuscated: 'cannot be judged',
};

/**
 * Judges an option by its entry in a table.
 * @param label the program and the option
 */
export function judgeOption(
  subject: CommandAnalysis,
  option: OptionSpec,
  label: string,
  value: Argument | undefined,
): void {
  if (isHarmlessValue(option, value)) return;
  if (option.class)
    subject.add(option.class, `${label} ${option.reason ?? CLASS_DESCRIPTIONS[option.class] ?? ''}`.trim());
  if (option.value && value) VALUE_JUDGES[option.value]?.(subject, value, label);
}

/** Judges the value of an option, by its role. A value without an effect of its own has no entry. */
const VALUE_JUDGES: Readonly<
  Partial<Record<ValueRole, (subject: CommandAnalysis, value: Argument, label: string) => void>>
> = {
  read: (subject, value) => {
    subject.read(value);
  },
  write: writeOrPipe,
  settings: (subject, value) => {
    if (!isOwn(subject, value)) subject.read(value);
  },
  shell: (subject, value, label) => {
    subject.runText(value, `the command that ${label} runs`);
  },
  source: (subject, value, label) => {
    judgeSource(subject, value.value, label);
  },
  code: (subject, _value, label) => {
    subject.add('obfuscated', `${label} runs code that cannot be judged`);
  },
  program: (subject, _value, label) => {
    subject.add('obfuscated', `${label} runs a program that the option names`);
  },
  mount: judgeMount,
  index: (subject, value) => {
    if (/[.:]/.test(value.shape)) judgeIndex(subject, value);
  },
  packages: (subject, value) => {
    if (/^[a-z][\w+.-]*:\/\//i.test(value.shape)) judgeIndex(subject, value);
    else subject.read(value);
  },
};

/** A file to write; strace takes a pipe to a command as well. */
function writeOrPipe(subject: CommandAnalysis, value: Argument, label: string): void {
  if (/^[|!]/.test(value.shape)) subject.runText(tailOf(value, 1), `the command that ${label} runs`);
  else subject.write(value);
}

/** A container may get the files of the workspace, as every program may, and volumes of its own. */
function judgeMount(subject: CommandAnalysis, value: Argument, label: string): void {
  const [source] = value.value?.split(':') ?? [];
  const isNamed = source !== undefined && /^\w[\w.-]*$/.test(source);
  if (isNamed || (source !== undefined && isOwn(subject, { value: source }))) return;
  subject.add('privilege', `${label} gives a container access to files of this machine`);
}

/** Whether a path is in the workspace. */
function isOwn({ inquiry, scope }: CommandAnalysis, { value }: Pick<Argument, 'value'>): boolean {
  const paths = value === undefined ? [undefined] : resolvePath(value, scope.directories);
  return paths.every((path) => kindOf(path, inquiry.facts) === 'workspace');
}

/** Indexes of packages that everybody uses, and those of this machine. */
const KNOWN_INDEX =
  /^(?:https?:\/\/)?(?:(?:test\.)?pypi\.org|files\.pythonhosted\.org|download\.pytorch\.org|pypi\.nvidia\.com|rubygems\.org|registry\.npmjs\.org|registry\.yarnpkg\.com|npm\.pkg\.github\.com|localhost|127\.\d+\.\d+\.\d+)(?:[:/]|$)/;

/** Packages of another index run code of its owner. */
export function judgeIndex(subject: CommandAnalysis, { shape }: Argument): void {
  if (!KNOWN_INDEX.test(shape))
    subject.add('obfuscated', `installs packages from another index, whose owner can run code: ${shape}`);
}
