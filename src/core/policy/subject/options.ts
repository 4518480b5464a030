import type { CommandClass } from '../model.js';
import { kindOf } from '../path-kinds.js';
import { resolvePath } from '../paths.js';
import { type Argument, UNKNOWN } from '../words/argument.js';
import type { CommandAnalysis } from './command-analysis.js';
import { judgeSource } from './inline-source.js';
import type { GivenOption, OptionSpec, ParsedArguments, ValueRole } from './program-spec.js';

export type { ParsedArguments } from './program-spec.js';

/** Rules for parsing arguments. */
interface ReadingRules {
  readonly options: Readonly<Record<string, OptionSpec>>;
  /** Whether parsing stops at the first operand, because the remaining arguments belong to another program. */
  readonly stopsAtOperand?: boolean;
}

/** Splits options from operands, as getopt_long(3) does: clusters, attached values, abbreviations, `--`. */
export function parseArguments(args: readonly Argument[], { options, stopsAtOperand }: ReadingRules): ParsedArguments {
  const given: GivenOption[] = [];
  const operands: Argument[] = [];
  const doubtful: Argument[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index];
    if (!arg) break;
    if (arg.shape === '--') {
      const after = args.slice(index + 1);
      operands.push(...(stopsAtOperand ? after.slice(0, 1) : after));
      return { options: given, operands, doubtful, rest: after.slice(1) };
    }
    if (isDoubtful(arg)) doubtful.push(arg);
    if (isOperand(arg)) {
      operands.push(arg);
      if (stopsAtOperand) return { options: given, operands, doubtful, rest: args.slice(index + 1) };
    } else {
      const read = readOptions(arg, args[index + 1], options);
      given.push(...read.given);
      if (read.takesNext) index += 1;
      if (read.given.some(({ spec }) => spec?.isLast === true))
        return { options: given, operands, doubtful, rest: args.slice(index + 1) };
    }
  }
  return { options: given, operands, doubtful, rest: [] };
}

const isDoubtful = ({ shape }: Argument): boolean => shape.startsWith(UNKNOWN) || shape.startsWith(`-${UNKNOWN}`);

/** A word that is no option. `-` alone stands for standard input. */
const isOperand = ({ shape }: Argument): boolean =>
  !shape.startsWith('-') || shape === '-' || shape.startsWith(`-${UNKNOWN}`);

/** Reads the options of one word, the last of which may take the next word as its value. */
function readOptions(
  arg: Argument,
  next: Argument | undefined,
  options: ReadingRules['options'],
): { readonly given: readonly GivenOption[]; readonly takesNext: boolean } {
  const given = arg.shape.startsWith('--') ? readLong(arg, options) : readShort(arg, options);
  const last = given.at(-1);
  if (last?.spec?.value === undefined || last.value !== undefined) return { given, takesNext: false };
  return { given: [...given.slice(0, -1), { ...last, value: next }], takesNext: true };
}

/** `--name`, `--name=value`, and abbreviations, for which the most dangerous meaning counts. */
function readLong(arg: Argument, options: ReadingRules['options']): readonly GivenOption[] {
  const { name, value } = splitAtEquals(arg);
  const exact = lookUp(options, name);
  if (exact) return [{ name, spec: exact, value }];
  const candidates = Object.keys(options).filter((known) => known.startsWith(name));
  const [worst] = candidates.toSorted((a, b) => severityOf(options[b]) - severityOf(options[a]));
  if (worst === undefined) return [{ name, spec: undefined, value }];
  return [{ name: worst, spec: options[worst], value }];
}

/** The name of an option, and the value that is attached to it. */
function splitAtEquals(arg: Argument): Pick<GivenOption, 'name' | 'value'> {
  const equals = arg.shape.indexOf('=');
  if (equals === -1) return { name: arg.shape, value: undefined };
  return { name: arg.shape.slice(0, equals), value: tailOf(arg, equals + 1) };
}

/** `-name` as a whole, or a cluster of letters. */
function readShort(arg: Argument, options: ReadingRules['options']): readonly GivenOption[] {
  const { name, value } = splitAtEquals(arg);
  const spec = name.length > 2 ? lookUp(options, name) : undefined;
  return spec ? [{ name, spec, value }] : readCluster(arg, options);
}

/** A cluster of letters; the first letter that takes a value gets the remainder. */
function readCluster(arg: Argument, options: ReadingRules['options']): readonly GivenOption[] {
  const { shape } = arg;
  const read: GivenOption[] = [];
  for (let at = 1; at < shape.length; at += 1) {
    const name = `-${shape[at] ?? ''}`;
    const spec = lookUp(options, name);
    if (spec?.value !== undefined) {
      const hasRest = at + 1 < shape.length;
      return [...read, { name, spec, value: hasRest ? tailOf(arg, at + 1) : undefined }];
    }
    read.push({ name, spec, value: undefined });
  }
  return read;
}

const lookUp = (options: ReadingRules['options'], name: string): OptionSpec | undefined =>
  Object.hasOwn(options, name) ? options[name] : undefined;

const severityOf = (spec: OptionSpec | undefined): number =>
  (spec?.class ? 2 : 0) + (spec !== undefined && isExecuted(spec) ? 4 : spec?.value === 'write' ? 1 : 0);

/** Whether the value of an option is executed in some way. */
export const isExecuted = ({ value }: OptionSpec): boolean =>
  value === 'shell' || value === 'source' || value === 'code';

/** Whether one of the options is given. */
export const hasOption = ({ options }: Pick<ParsedArguments, 'options'>, ...names: readonly string[]): boolean =>
  options.some(({ name }) => names.includes(name));

/** The value of the first of the options that is given. */
export const valueOfOption = (
  { options }: Pick<ParsedArguments, 'options'>,
  ...names: readonly string[]
): Argument | undefined => options.find(({ name }) => names.includes(name))?.value;

/** Whether the table lists the value of an option as harmless. */
export const isHarmlessValue = ({ harmless }: OptionSpec, value: Argument | undefined): boolean =>
  value?.value !== undefined && harmless?.test(value.value) === true;

/** The end of an argument as a separate argument. */
export function tailOf(arg: Argument, from: number): Argument {
  const shape = arg.shape.slice(from);
  return { ...arg, shape, value: shape.includes(UNKNOWN) ? undefined : shape };
}

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

/** What the value of an option is taken for, by its role. */
const VALUES: Readonly<Record<ValueRole, string>> = {
  text: 'a value without an effect',
  read: 'a file that is read',
  write: 'a file that is written',
  settings: 'a file of settings',
  into: 'the directory that gets the files',
  shell: 'text for a shell, judged as commands',
  source: 'a program in its own language',
  code: 'code that cannot be judged',
  program: 'a program that is started',
  mount: 'files that a container gets',
  index: 'an index of packages',
  packages: 'a file that names packages',
  rename: 'a substitution in the names of files',
};

/** Notes what options and their values are taken for. Takes the arguments among which they are. */
export function takeOptions(
  subject: CommandAnalysis,
  label: string,
  { options }: Pick<ParsedArguments, 'options'>,
  args: readonly Argument[] = [],
): void {
  if (!subject.isExplained) return;
  const known = options.filter(({ spec }) => spec !== undefined);
  for (const { name, spec, value } of known) {
    subject.take(name, `an option of ${label}${spec?.class === undefined ? '' : `: ${spec.class}`}`);
    if (spec?.value !== undefined && value) subject.take(value.text, `the value of ${name}: ${VALUES[spec.value]}`);
  }
  for (const { text } of args) {
    const isKnown = known.some(({ name }) => text.startsWith(name));
    if (/^-./.test(text) && !isKnown) subject.take(text, `an option of ${label} without an entry of its own`);
  }
}
