import { type Argument, UNKNOWN, unknownArgument } from '../words/argument.js';
import { judgeAssignments } from '../subject/assignments.js';
import { resolvePath } from '../paths/paths.js';
import { type ParsedArguments, parseArguments, tailOf } from '../subject/options.js';
import type { Assignment, Scope, Stdin } from '../words/simple-command.js';
import { shorten, type CommandAnalysis } from '../subject/command-analysis.js';
import type { WrapperSpec } from '../family/wrapper-spec.js';

/** Whether the client itself sends the input, so that it contains no data of this machine. */
const isOfClient = (stdin: Stdin): boolean =>
  stdin.kind === 'text' || (stdin.kind === 'unknown' && stdin.isOfClient === true);

/** Programs also accept variable names that shells reject, such as `BASH_FUNC_ls%%`. */
const VARIABLE = /^([A-Za-z_][^\s=]*)=/;

/** Judges a program that runs another one, and the program that it runs. */
export function judgeWrapper(subject: CommandAnalysis, label: string, spec: WrapperSpec, args = subject.args): void {
  if (spec.class) subject.add(spec.class, `${label} ${spec.reason ?? 'runs a command'}`);
  const { stdin } = subject.command;
  if (spec.sendsInput === true && stdin && !isOfClient(stdin)) {
    subject.add('exfiltration', `${label} sends its input to another machine`);
  }
  let words = args;
  let hasText = false;
  let target: Argument | undefined;
  // Options may stand before and after the operands that precede the command.
  for (let skipped = 0; skipped <= (spec.skips ?? 0); skipped += 1) {
    const stopsAtOperand = spec.hasNoCommand !== true;
    const parsed = parseArguments(skipped === 0 ? words : words.slice(1), {
      options: spec.options ?? {},
      stopsAtOperand,
    });
    words = parsed.operands[0] && stopsAtOperand ? [parsed.operands[0], ...parsed.rest] : [];
    if (parsed.options.some(({ name }) => spec.asks?.includes(name) === true)) return;
    const [first] = words;
    const isOwn = spec.writesSkipped === true && skipped < (spec.skips ?? 0);
    if (isOwn && first && !/^\d+$/.test(first.shape)) subject.write(first);
    hasText = judgeOptions(subject, label, parsed.options, spec.continuesText === true ? words : []) || hasText;
    for (const { name, value } of parsed.options) if (spec.changesDirectory?.includes(name) === true) target = value;
  }
  if (spec.takesDash === true && words[0]?.value === '-') words = words.slice(1);
  const assignments = spec.takesVariables === true ? takeVariables(words) : [];
  judgeAssignments(subject, assignments);
  words = words.slice(assignments.length);
  const scope = spec.isElsewhere === true ? elsewhere(subject) : target ? inDirectory(subject, target) : subject.scope;
  const end = spec.inputsBehind ? words.findIndex(({ shape }) => spec.inputsBehind?.test(shape) === true) : -1;
  const command = end === -1 ? words : words.slice(0, end);
  if (command.length > 0) {
    if (spec.isJoined === true) runJoined(subject, { label, spec, words: command }, scope);
    else runInner(subject, { label, spec, words: command }, args, scope);
  } else if (end !== -1) subject.add('obfuscated', `${label} runs commands from its arguments or its input`);
  else if (!hasText) judgeBare(subject, label, spec, args);
}

/** A wrapper without a command. */
function judgeBare(
  subject: CommandAnalysis,
  label: string,
  { bare, sendsInput, redirectsShell }: WrapperSpec,
  args: readonly Argument[],
): void {
  const { stdin } = subject.command;
  if (redirectsShell === true && stdin !== subject.scope.stdin && stdin?.kind !== 'file')
    subject.addSideEffect('obfuscated', 'redirects the input of all later commands in this shell');
  if (sendsInput === true && stdin?.kind === 'text') subject.inquiry.judgeText(stdin.text, elsewhere(subject));
  if (sendsInput === true && stdin?.kind === 'unknown' && stdin.isOfClient === true)
    subject.addSideEffect('obfuscated', `${label} runs input from ${stdin.what}`);
  if (bare === undefined && args.length > 0) subject.add('execute', `${label} runs a program`);
  else if (bare && bare !== 'read') subject.add(bare, `${label} runs commands from its arguments or its input`);
}

/**
 * Judges the options of a wrapper.
 * @returns whether one of them is text that it runs
 */
function judgeOptions(
  subject: CommandAnalysis,
  label: string,
  options: ParsedArguments['options'],
  words: readonly Argument[],
): boolean {
  let hasText = false;
  for (const { name, spec, value } of options) {
    if (value?.value !== undefined && spec?.harmless?.test(value.value) === true) continue;
    if (spec?.class) subject.add(spec.class, `${label} ${name} ${spec.reason ?? ''}`.trim());
    if (!spec?.value || !value) continue;
    // strace: a pipe to a command.
    if (spec.value === 'write' && /^[|!]/.test(value.shape))
      subject.runText(tailOf(value, 1), `the command that ${label} ${name} runs`);
    else if (spec.value === 'write') subject.write(value);
    else if (spec.value === 'read') subject.read(value);
    else if (spec.value === 'shell') {
      hasText = true;
      runSplitText(subject, `${label} ${name}`, value, words);
    }
  }
  return hasText;
}

/** `env -S "…"` and `flock -c "…"`: a text, and the words that continue it. */
function runSplitText(subject: CommandAnalysis, label: string, value: Argument, words: readonly Argument[]): void {
  const text = [value, ...words].map((word) => word.value ?? word.shape).join(' ');
  if (text.includes(UNKNOWN)) subject.addUnknown(value, `the command that ${label} runs`);
  subject.inquiry.judgeText(text.replaceAll(UNKNOWN, '$unknown'), subject.scope);
}

/** Scope of a command that runs in an unknown directory. */
const elsewhere = ({ scope }: CommandAnalysis): Scope => ({ ...scope, directories: [undefined], stdin: undefined });

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

/** The command that a wrapper runs. */
interface WrappedCommand {
  /** Name of the wrapper, or its name and subcommand. */
  readonly label: string;
  readonly spec: WrapperSpec;
  readonly words: readonly Argument[];
}

/** Judges words that the wrapper joins to a text for a shell. */
function runJoined(subject: CommandAnalysis, { label, spec, words }: WrappedCommand, scope: Scope): void {
  const text = words.map(({ value, text: written }) => value ?? written).join(' ');
  const unknown = words.find(({ value, isSample }) => value === undefined || isSample);
  if (unknown) subject.addUnknown(unknown, `the command that ${label} runs`);
  if (spec.addsWords === true && text.includes('{='))
    subject.add('obfuscated', `${label} runs code that cannot be judged`);
  const isUnsure = spec.addsWords === true && !text.includes('{}');
  const { stdin } = subject.command;
  const joined = isUnsure ? `${text} "$@"` : text.replaceAll(/\{[.#%/]*\}/g, '"$@"');
  subject.inquiry.judgeText(joined, { ...scope, stdin });
}

/** Judges words that are a program and its arguments; `args` are all arguments of the wrapper. */
function runInner(
  subject: CommandAnalysis,
  { label, spec, words }: WrappedCommand,
  args: readonly Argument[],
  scope: Scope,
): void {
  const own = args.slice(0, args.length - words.length);
  const added = spec.addsWords === true ? addWords(words, own, subject) : words;
  const [name] = added;
  if (name?.value === undefined) {
    subject.addUnknown(name ?? unknownArgument(label), `the program that ${label} runs`);
  }
  subject.runWords(added, { text: shorten(added.map(({ text }) => text).join(' ')) }, scope);
}

/** `xargs` substitutes words for its placeholder, or appends them; `own` are its arguments without the command. */
function addWords(
  words: readonly Argument[],
  own: readonly Argument[],
  { command, inquiry }: CommandAnalysis,
): readonly Argument[] {
  const marks = own.flatMap(({ shape }, index) => {
    const [, attached] = /^(?:-[Ii]|--replace=)(.*)$/s.exec(shape) ?? [];
    if (attached === undefined) return [];
    return [attached === '' ? (shape === '-I' ? (own[index + 1]?.shape ?? '{}') : '{}') : attached];
  });
  const [mark] = marks;
  if (mark === undefined || mark === '') {
    const { stdin } = command;
    const names =
      stdin?.kind === 'unknown' && inquiry.programs.has(words[0]?.value ?? '', 'edits') && !readsFile(own)
        ? stdin.names
        : undefined;
    return [...words, ...(names ?? [unknownArgument('…')])];
  }
  return words.map((word) => {
    if (!word.shape.includes(mark)) return word;
    return { ...word, shape: word.shape.replaceAll(mark, UNKNOWN), value: undefined, hasSubstitution: true };
  });
}

const readsFile = (own: readonly Argument[]): boolean => own.some(({ shape }) => /^(?:-a|--a)/.test(shape));
