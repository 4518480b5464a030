import { isTrustedPlace, kindOf } from '../path-kinds.js';
import { baseName, resolvePath } from '../paths.js';
import { type Argument, literal } from '../words/argument.js';
import type { CommandAnalysis } from './command-analysis.js';
import { judgeSource } from './inline-source.js';
import { isHarmlessValue, tailOf } from './options.js';
import type { GivenOption, OptionSpec, ProgramCall } from './program-spec.js';

/** What a value of an option or an operand is for its program. */
export interface Role {
  /** As in explanations: "a file that is read". */
  readonly takenFor: string;
  /**
   * Judges a word that has this role; without it, the word has no effect of its own.
   * @param label the program, with the option whose value the word is
   */
  readonly judge?: (subject: CommandAnalysis, word: Argument, label: string) => void;
  /** What a word that is known only at run time could do here, if it is an option with such a value. @default nothing */
  readonly risk?: 'executes' | 'writes';
  /** What a call has once: an option with a value for it takes the place of the operand. */
  readonly slot?: 'target' | 'program';
}

/** A directory, or a name, that gets the files which the other operands name: see `judgeOperands`. */
const INTO: Role = { takenFor: 'the directory that gets the files, or their new name', slot: 'target' };
/** What is unpacked from an archive: see `judgeOperands`. */
const MEMBERS: Role = { takenFor: 'files that are unpacked' };
const RENAME: Role = { takenFor: 'a substitution in the names of files' };

/** The roles that entries can name. Families have further ones. */
export const ROLES = {
  text: { takenFor: 'text without an effect' },
  read: {
    takenFor: 'a file that is read',
    judge: (subject, word) => {
      subject.read(word);
    },
  },
  tree: {
    takenFor: 'a file that is read, or a directory with all that is in it',
    judge: (subject, word) => {
      subject.readTree(word);
    },
  },
  write: {
    takenFor: 'a file that is written',
    risk: 'writes',
    judge: (subject, word) => {
      subject.write(word);
    },
  },
  output: { takenFor: 'a file that gets the output', risk: 'writes', judge: writeOutput },
  'write-or-pipe': { takenFor: 'a file that is written, or a command after |', risk: 'writes', judge: writeOrPipe },
  settings: {
    takenFor: 'a file of settings',
    judge: (subject, word) => {
      if (!isOwn(subject, word)) subject.read(word);
    },
  },
  remove: {
    takenFor: 'a file or directory that is removed',
    judge: (subject, word, label) => {
      subject.remove(word, `${label} deletes`, false);
    },
  },
  'remove-tree': {
    takenFor: 'a file that is removed, or a directory with all that is in it',
    judge: (subject, word, label) => {
      subject.remove(word, `${label} deletes`, true);
    },
  },
  into: INTO,
  members: MEMBERS,
  rename: RENAME,
  shell: {
    takenFor: 'text for a shell, judged as commands',
    risk: 'executes',
    judge: (subject, word, label) => {
      subject.runText(word, `the command that ${label} runs`);
    },
  },
  source: {
    takenFor: 'a program in its own language',
    risk: 'executes',
    judge: (subject, word, label) => {
      judgeSource(subject, word.value, label);
    },
  },
  code: {
    takenFor: 'code that cannot be judged',
    risk: 'executes',
    judge: (subject, _word, label) => {
      subject.does('runs code that cannot be judged', '', label);
    },
  },
  // Unlike `code`, an unknown word is not taken for an option with such a value.
  program: {
    takenFor: 'a program that is started',
    judge: (subject, _word, label) => {
      subject.does('runs a program that the option names', '', label);
    },
  },
  mount: { takenFor: 'files that a container gets', judge: judgeMount },
  index: {
    takenFor: 'an index of packages',
    judge: (subject, word) => {
      if (/[.:]/.test(word.shape)) judgeIndex(subject, word);
    },
  },
  packages: {
    takenFor: 'a file that names packages',
    judge: (subject, word) => {
      if (/^[a-z][\w+.-]*:\/\//i.test(word.shape)) judgeIndex(subject, word);
      else subject.read(word);
    },
  },
} as const satisfies Readonly<Record<string, Role>>;

/** The file gets what the program prints, so that its content is unknown. A lone dash is standard output. */
function writeOutput(subject: CommandAnalysis, word: Argument): void {
  if (word.value === '-') return;
  subject.write(word);
  subject.noteWritten(word);
}

/** strace and clients of databases take a pipe to a command in place of a file. */
function writeOrPipe(subject: CommandAnalysis, word: Argument, label: string): void {
  if (/^[|!]/.test(word.shape)) subject.runText(tailOf(word, 1), `the command that ${label} runs`);
  else subject.write(word);
}

/** A container may get the files of the workspace, as every program may, and volumes of its own. */
function judgeMount(subject: CommandAnalysis, word: Argument, label: string): void {
  const [source] = word.value?.split(':') ?? [];
  const isNamed = source !== undefined && /^\w[\w.-]*$/.test(source);
  if (isNamed || (source !== undefined && isOwn(subject, literal(source)))) return;
  subject.does('gives a container access to files of this machine', '', label);
}

export function isOwn({ inquiry, scope }: CommandAnalysis, { value }: Argument): boolean {
  const paths = value === undefined ? [undefined] : resolvePath(value, scope.directories);
  return paths.every((path) => kindOf(path, inquiry.facts) === 'workspace');
}

/** Indexes of packages that everybody uses, and those of this machine. */
const KNOWN_INDEX =
  /^(?:https?:\/\/)?(?:(?:test\.)?pypi\.org|files\.pythonhosted\.org|download\.pytorch\.org|pypi\.nvidia\.com|rubygems\.org|registry\.npmjs\.org|registry\.yarnpkg\.com|npm\.pkg\.github\.com|localhost|127\.\d+\.\d+\.\d+)(?:[:/]|$)/;

/** Packages of another index run code of its owner. */
export function judgeIndex(subject: CommandAnalysis, { shape }: Argument): void {
  if (!KNOWN_INDEX.test(shape))
    subject.does('installs packages from another index, whose owner can run code', shape, '');
}

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
  if (option.class) subject.states(option.class, label, option.reason);
  if (value) option.value?.judge?.(subject, value, label);
}

/** Notes what options and their values are taken for. Takes the arguments among which they are. */
export function takeOptions(
  subject: CommandAnalysis,
  label: string,
  options: readonly GivenOption[],
  args: readonly Argument[] = [],
): void {
  if (!subject.isExplained) return;
  const known = options.filter(({ spec }) => spec !== undefined);
  for (const { name, spec, value } of known) {
    subject.take(name, `an option of ${label}${spec?.class === undefined ? '' : `: ${spec.class}`}`);
    if (spec?.value && value) subject.take(value.text, `the value of ${name}: ${spec.value.takenFor}`);
  }
  for (const { text } of args) {
    const isKnown = known.some(({ name }) => text.startsWith(name));
    if (/^-./.test(text) && !isKnown) subject.take(text, `an option of ${label} without an entry of its own`);
  }
}

/** The roles of operands: of the first ones, of all others, of the last ones if there are enough. */
export interface OperandRoles {
  readonly first: readonly Role[];
  readonly others: Role;
  readonly last: readonly Role[];
}

const READ: OperandRoles = { first: [], others: ROLES.read, last: [] };

/**
 * The operands of a call, each with its role. An option chooses the roles if its entry says so; one whose value has the
 * slot of an operand takes its place.
 */
function rolesIn({ options, operands }: ProgramCall, usual = READ): readonly (readonly [Role, Argument])[] {
  const chosen = options.findLast(({ spec }) => spec?.operands)?.spec?.operands ?? usual;
  const isGiven = (role: Role) =>
    role.slot !== undefined &&
    options.some(({ spec, value }) => spec?.value?.slot === role.slot && value !== undefined);
  const first = chosen.first.filter((role) => !isGiven(role));
  const last = chosen.last.filter((role) => !isGiven(role));
  const end = Math.max(operands.length - last.length, first.length + 1);
  return operands.map((operand, at) => {
    const role = at < end ? first[at] : last[at - end];
    return [role ?? chosen.others, operand];
  });
}

/** Judges the operands of a program by their roles. */
export function judgeOperands(
  subject: CommandAnalysis,
  call: ProgramCall,
  usual: OperandRoles | undefined,
  takenFor?: string,
): void {
  const roles = rolesIn(call, usual);
  for (const [role, operand] of roles) {
    subject.take(operand.text, takenFor ?? role.takenFor);
    role.judge?.(subject, operand, call.label);
  }
  const withRole = (wanted: Role) => roles.flatMap(([role, operand]) => (role === wanted ? [operand] : []));
  if (usual?.others === MEMBERS) judgeMembers(subject, call, withRole(MEMBERS));
  else if (usual?.last.includes(INTO) === true) {
    const target = directoryOf(call) ?? withRole(INTO)[0];
    const sources = roles.flatMap(([role, operand]) => (role === INTO ? [] : [operand]));
    if (target) judgeInto(subject, target, sources, true);
  }
}

/** The directory that an option names for the files. */
const directoryOf = ({ options }: { readonly options: readonly GivenOption[] }): Argument | undefined =>
  options.findLast(({ spec }) => spec?.value === INTO)?.value;

/** The files that a command copies, moves or links, and where they go. */
export interface Copies {
  readonly sources: readonly Argument[];
  /** A directory, or a name; undefined when the command names none. */
  readonly target: Argument | undefined;
}

/** The sources and the target of a call: an option with the role `into`, or the last of several operands. */
export function copiesOf(call: ProgramCall): Copies {
  const { operands } = call;
  const target = directoryOf(call);
  if (target !== undefined || operands.length < 2) return { sources: operands, target };
  return { sources: operands.slice(0, -1), target: operands.at(-1) };
}

/**
 * Judges where files go: to a name, or into a directory under their own names, which may be those of files that run or
 * are trusted later.
 * @param mayBeTree whether a directory may get the name of the target
 */
export function judgeInto(
  subject: CommandAnalysis,
  target: Argument,
  sources: readonly Argument[],
  mayBeTree: boolean,
): void {
  subject.write(target);
  if (mayBeTree) judgePlace(subject, target);
  for (const source of sources) {
    // The name of a file on another machine may follow a colon.
    const name = source.value === undefined ? '' : baseName(source.value.replace(/\/+$/, '')).replace(/^.*:/, '');
    if (name !== '') judgePlace(subject, below(target, { ...source, shape: name, value: name }));
  }
}

/** Judges the files that are unpacked from an archive: their names, where these are given, and what renames them. */
export function judgeMembers(
  subject: CommandAnalysis,
  call: { readonly options: readonly GivenOption[] },
  members: readonly Argument[],
): void {
  const directory = directoryOf(call) ?? literal('.');
  subject.write(directory);
  const renamed = call.options.flatMap(({ spec, value }) =>
    spec?.value === RENAME && value ? [{ ...value, ...replacementOf(value) }] : [],
  );
  for (const member of [...members, ...renamed])
    judgePlace(subject, below(directory, { ...member, isGlob: /[*?[]/.test(member.shape) }));
}

/** The new name in `s,from,to,` or `,from,to,`. */
function replacementOf({ shape }: Argument): { readonly shape: string; readonly value: string } {
  const [, delimiter = '', rest = ''] = /^s?([^\w\s])(.*)$/s.exec(shape) ?? [];
  const name = delimiter === '' ? '' : (rest.split(delimiter)[1] ?? '').replaceAll(/[&~]|\\\d/g, '');
  return { shape: name, value: name };
}

/** An argument in a directory. */
export const below = (directory: Argument, { value, shape, isGlob, text }: Argument): Argument => ({
  ...directory,
  text,
  isGlob: directory.isGlob || isGlob,
  shape: `${directory.shape}/${shape}`,
  value: directory.value === undefined || value === undefined ? undefined : `${directory.value}/${value}`,
});

/** Judges a place that gets a file or a directory. Its directory is judged elsewhere. */
function judgePlace(subject: CommandAnalysis, place: Argument): void {
  const { inquiry, scope } = subject;
  for (const path of place.value === undefined ? [] : resolvePath(place.value, scope.directories)) {
    if (path !== undefined && isTrustedPlace(path, inquiry.facts, place.isGlob))
      subject.does('changes a file that is executed or trusted later', path, '');
  }
}
