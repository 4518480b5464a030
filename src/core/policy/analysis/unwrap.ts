import type { WrapperSpec } from '../program-entries.js';
import { resolvePath } from '../paths.js';
import { judgeAssignments } from '../subject/assignments.js';
import type { CommandAnalysis } from '../subject/command-analysis.js';
import { readNamedFiles, readsFiles, wordsOf } from '../subject/listed-files.js';
import { isHarmlessValue, parseArguments, parseBeforeOperand } from '../subject/options.js';
import type { GivenOption } from '../subject/program-spec.js';
import { judgeOption, ROLES, takeOptions } from '../subject/roles.js';
import {
  type Argument,
  type Assignment,
  type Scope,
  shorten,
  type Stdin,
  UNKNOWN,
  unknownArgument,
} from '../words/argument.js';

/** Whether the client itself sends the input, so that it contains no data of this machine. */
const isOfClient = (stdin: Stdin): boolean =>
  stdin.kind === 'text' || (stdin.kind === 'unknown' && stdin.isOfClient === true);

/** Scope of a command that runs in an unknown directory. */
const elsewhere = ({ scope }: CommandAnalysis): Scope => ({
  ...scope,
  directories: [undefined],
  stdin: undefined,
});

function judgeSentInput(subject: CommandAnalysis, label: string): void {
  const { stdin } = subject.command;
  if (stdin && !isOfClient(stdin)) subject.does('sends its input to another machine', '', label);
}

function judgeShellInput(subject: CommandAnalysis, label: string, stdin: Stdin): void {
  if (stdin.kind === 'text') subject.inquiry.judgeText(stdin.text, { ...subject.scope, stdin: undefined });
  else subject.causes('runs the input, which cannot be judged', '', `a shell of ${label}`);
}

function judgeRemoteInput(subject: CommandAnalysis, label: string, stdin: Stdin): void {
  if (stdin.kind === 'text') subject.inquiry.judgeText(stdin.text, elsewhere(subject));
  if (stdin.kind === 'unknown' && stdin.isOfClient === true)
    subject.causes('runs input from {what}', stdin.what, label);
}

/** `xargs` substitutes words for its placeholder, or appends them. */
function addWords(
  words: readonly Argument[],
  options: readonly GivenOption[],
  subject: CommandAnalysis,
): readonly Argument[] {
  const placeholder = options.find(({ name }) => /^(?:-[Ii]|--replace)$/.test(name));
  if (!placeholder) return [...words, ...namesFor(words, options, subject)];
  const mark = placeholder.value?.shape || '{}';
  return words.map((word) => {
    if (!word.shape.includes(mark)) return word;
    return { ...word, shape: word.shape.replaceAll(mark, UNKNOWN), value: undefined, hasSubstitution: true };
  });
}

/** The words that `xargs` appends, as far as its input tells them. */
function namesFor(
  words: readonly Argument[],
  options: readonly GivenOption[],
  { command: { stdin }, inquiry }: CommandAnalysis,
): readonly Argument[] {
  const unknown = [unknownArgument('…')];
  if (options.some(({ name }) => name === '-a' || name === '--arg-file')) return unknown;
  const known = wordsOf(stdin, delimiterIn(options));
  if (known) return known;
  const takesNames = stdin?.kind === 'unknown' && inquiry.programs.has(words[0]?.value ?? '', 'edits');
  return (takesNames ? stdin.names : undefined) ?? unknown;
}

/** The text between two words, if an option of `xargs` names it. */
function delimiterIn(options: readonly GivenOption[]): string | undefined {
  if (options.some(({ name }) => name === '-0' || name === '--null')) return '\0';
  const { value } = options.find(({ name }) => name === '-d' || name === '--delimiter') ?? {};
  return value?.shape.replace('\\n', '\n').replace('\\0', '\0').replace('\\t', '\t');
}

/** Programs also accept variable names that shells reject, such as `BASH_FUNC_ls%%`. */
const VARIABLE = /^([A-Za-z_][^\s=]*)=/;

/** Judges a program that runs another one, and the program that it runs. */
export function judgeWrapper(subject: CommandAnalysis, label: string, spec: WrapperSpec, args = subject.args): void {
  if (spec.class !== 'read') subject.states(spec.class, label, spec.reason ?? 'runs a command');
  if (spec.sendsInput === true) judgeSentInput(subject, label);
  const call = readCall(subject, label, spec, args);
  if (!call) return;
  const { words, hasInputs } = splitInputs(spec, takeAssignments(subject, spec, call.words));
  if (words.length > 0 && subject.isExplained)
    subject.take(words.map(({ text }) => text).join(' '), `the command that ${label} runs`);
  judgeCleared(subject, label, args, words);
  const { options } = parseArguments(args.slice(0, args.length - words.length), spec.options ?? {});
  if (words.length > 0) runWrapped(subject, { label, spec, options, words }, scopeOf(subject, spec, call.directory));
  else if (hasInputs) subject.does('runs commands from its arguments or its input', '', label);
  else if (!call.hasText) judgeBare(subject, label, spec, args);
}

/** `env -i git`, `exec -c git`: without its variables, git trusts what lies in a checkout. */
function judgeCleared(
  subject: CommandAnalysis,
  label: string,
  args: readonly Argument[],
  words: readonly Argument[],
): void {
  const clears = label === 'env' ? /^(?:-[a-z0-9]*i|-|--ignore-environment)$/ : /^-[la]*c/;
  if ((label !== 'env' && label !== 'exec') || !/^(?:.*\/)?git$/.test(words[0]?.shape ?? '')) return;
  if (args.slice(0, args.length - words.length).some(({ shape }) => clears.test(shape)))
    subject.does('takes away what protects git in checkouts', '', label);
}

/** Separates the words of a command from inputs that are added to it. */
function splitInputs(
  { inputsBehind }: WrapperSpec,
  words: readonly Argument[],
): { readonly words: readonly Argument[]; readonly hasInputs: boolean } {
  const end = inputsBehind ? words.findIndex(({ shape }) => inputsBehind.test(shape)) : -1;
  return end === -1 ? { words, hasInputs: false } : { words: words.slice(0, end), hasInputs: true };
}

interface WrapperCall {
  readonly words: readonly Argument[];
  /** An option is text that it runs. */
  readonly hasText: boolean;
  /** Value of an option that names the directory of the command. */
  readonly directory: Argument | undefined;
}

/** Judges the options of a wrapper, and finds its command; undefined when an option makes it run none. */
function readCall(
  subject: CommandAnalysis,
  label: string,
  spec: WrapperSpec,
  args: readonly Argument[],
): WrapperCall | undefined {
  const { skips = 0 } = spec;
  let words = args;
  let hasText = false;
  let directory: Argument | undefined;
  // Options may stand before and after the operands that precede the command.
  for (let skipped = 0; skipped <= skips; skipped += 1) {
    const part = readPart(spec, skipped === 0 ? words : words.slice(1));
    ({ words } = part);
    if (part.options.some(({ name }) => spec.asks?.includes(name) === true)) return undefined;
    if (skipped < skips) judgeSkipped(subject, spec, words[0]);
    hasText = judgeOptions(subject, label, part.options, spec.continuesText === true ? words : []) || hasText;
    const entered = part.options.findLast(({ name }) => spec.changesDirectory?.includes(name) === true);
    if (entered) directory = entered.value;
  }
  return { words, hasText, directory };
}

/** The options up to the first operand, and the words from there on. */
function readPart(
  { options = {}, hasNoCommand = false }: WrapperSpec,
  args: readonly Argument[],
): { readonly options: readonly GivenOption[]; readonly words: readonly Argument[] } {
  const parsed = hasNoCommand ? parseArguments(args, options) : parseBeforeOperand(args, options);
  const [first] = parsed.operands;
  return { options: parsed.options, words: first && !hasNoCommand ? [first, ...parsed.rest] : [] };
}

/** An operand before the command: a file that the wrapper creates, or a file descriptor. */
function judgeSkipped(subject: CommandAnalysis, { writesSkipped }: WrapperSpec, operand: Argument | undefined): void {
  if (writesSkipped === true && operand && !/^\d+$/.test(operand.shape)) subject.write(operand);
}

/** Judges the assignments before the command; returns the words after them. */
function takeAssignments(
  subject: CommandAnalysis,
  { takesDash, takesVariables }: WrapperSpec,
  words: readonly Argument[],
): readonly Argument[] {
  const rest = takesDash === true && words[0]?.value === '-' ? words.slice(1) : words;
  const assignments = takesVariables === true ? takeVariables(rest) : [];
  judgeAssignments(subject, assignments);
  return rest.slice(assignments.length);
}

function scopeOf(subject: CommandAnalysis, { isElsewhere }: WrapperSpec, directory: Argument | undefined): Scope {
  if (isElsewhere === true) return elsewhere(subject);
  return directory ? inDirectory(subject, directory) : subject.scope;
}

function judgeBare(
  subject: CommandAnalysis,
  label: string,
  { bare, sendsInput, redirectsShell, runsInput }: WrapperSpec,
  args: readonly Argument[],
): void {
  const { stdin } = subject.command;
  if (redirectsShell === true && replacesInput(subject))
    subject.causes('redirects the input of all later commands in this shell', '', '');
  if (sendsInput === true && stdin) judgeRemoteInput(subject, label, stdin);
  if (runsInput === true && stdin) judgeShellInput(subject, label, stdin);
  if (bare === undefined) {
    if (args.length > 0) subject.does('runs a program', '', label);
  } else if (bare !== 'read') subject.states(bare, label, 'runs commands from its arguments or its input');
}

/** Whether a command has an input of its own that is no file. */
const replacesInput = ({ command: { stdin }, scope }: CommandAnalysis): boolean =>
  stdin !== scope.stdin && stdin?.kind !== 'file';

/**
 * Judges the options of a wrapper.
 * @returns whether one of them is text that it runs
 */
function judgeOptions(
  subject: CommandAnalysis,
  label: string,
  options: readonly GivenOption[],
  words: readonly Argument[],
): boolean {
  let hasText = false;
  takeOptions(subject, label, options);
  for (const { name, spec, value } of options) {
    if (!spec) continue;
    const isText = spec.value === ROLES.shell && value !== undefined && !isHarmlessValue(spec, value);
    hasText ||= isText;
    judgeOption(subject, isText ? { ...spec, value: ROLES.text } : spec, `${label} ${name}`, value);
    if (isText) runSplitText(subject, `${label} ${name}`, value, words);
  }
  return hasText;
}

/** `env -S "…"` and `flock -c "…"`: a text, and the words that continue it. */
function runSplitText(subject: CommandAnalysis, label: string, value: Argument, words: readonly Argument[]): void {
  const text = [value, ...words].map((word) => word.value ?? word.shape).join(' ');
  if (text.includes(UNKNOWN)) subject.addUnknown(value, `the command that ${label} runs`);
  subject.inquiry.judgeText(text.replaceAll(UNKNOWN, '$unknown'), subject.scope);
}

/** Scope of a command that runs in the directory that an option names. */
function inDirectory({ scope }: CommandAnalysis, { value }: Argument): Scope {
  return { ...scope, directories: value === undefined ? [undefined] : resolvePath(value, scope.directories) };
}

function takeVariables(words: readonly Argument[]): readonly Assignment[] {
  const assignments: Assignment[] = [];
  for (const { shape, value, text } of words) {
    const name = VARIABLE.exec(shape)?.[1];
    if (name === undefined) break;
    assignments.push({ name, value: value?.slice(name.length + 1), text, isPrefix: true });
  }
  return assignments;
}

interface WrappedCommand {
  readonly label: string;
  readonly spec: WrapperSpec;
  /** The options of the wrapper, without those of the command. */
  readonly options: readonly GivenOption[];
  readonly words: readonly Argument[];
}

function runWrapped(subject: CommandAnalysis, wrapped: WrappedCommand, scope: Scope): void {
  if (wrapped.spec.isJoined === true) runJoined(subject, wrapped, scope);
  else runInner(subject, wrapped, scope);
}

/** Judges words that the wrapper joins to a text for a shell. */
function runJoined(subject: CommandAnalysis, { label, spec, words }: WrappedCommand, scope: Scope): void {
  const text = words.map(({ value, text: written }) => value ?? written).join(' ');
  const unknown = words.find(({ value, isSample }) => value === undefined || isSample);
  if (unknown) subject.addUnknown(unknown, `the command that ${label} runs`);
  if (spec.addsWords === true && text.includes('{=')) subject.does('runs code that cannot be judged', '', label);
  const isUnsure = spec.addsWords === true && !text.includes('{}');
  const { stdin } = subject.command;
  const joined = isUnsure ? `${text} "$@"` : text.replaceAll(/\{[.#%/]*\}/g, '"$@"');
  subject.inquiry.judgeText(joined, { ...scope, stdin });
}

/** Judges words that are a program and its arguments. */
function runInner(subject: CommandAnalysis, { label, spec, options, words }: WrappedCommand, scope: Scope): void {
  if (spec.addsWords === true && readsFiles(subject, words[0])) readNamedFiles(subject);
  const added = spec.addsWords === true ? addWords(words, options, subject) : words;
  const [name] = added;
  if (name?.value === undefined) {
    subject.addUnknown(name ?? unknownArgument(label), `the program that ${label} runs`);
  }
  subject.runWords(added, { text: shorten(added.map(({ text }) => text).join(' ')) }, scope);
}
