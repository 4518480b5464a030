import { rankOf } from '../model.js';
import { isSecret, kindOf, type PathKind } from '../path-kinds.js';
import { isWithin, resolvePath } from '../paths.js';
import { type Argument, literal } from '../words/argument.js';
import type { CommandAnalysis } from './command-analysis.js';
import { isInputName } from './inline-source.js';
import { readNamedFiles } from './listed-files.js';
import {
  isUnknownReadingOption,
  parseArguments,
  parseBeforeOperand,
  type SubcommandReading,
  subcommandsIn,
  tailOf,
} from './options.js';
import type { OptionSpec, ParsedArguments, ProgramCall, ProgramSpec, WordRule } from './program-spec.js';
import { outputOf } from './read-command.js';
import { judgeOperands, judgeOption, takeOptions } from './roles.js';

/** Options of many programs with which the input names the files that they read. */
const NAMED_BY_INPUT = /^(?:--files0?-from(?:=|$)|--stdin-paths$|-@$)/;

export function judgeProgram(subject: CommandAnalysis, spec: ProgramSpec, label: string, args = subject.args): void {
  const { subcommands } = spec;
  const call = judgeOwn(subject, spec, label, args);
  if (args === subject.args && args.some(({ shape }) => NAMED_BY_INPUT.test(shape))) readNamedFiles(subject);
  if (subcommands && call.operands[0]) judgeSubcommands(subject, spec, label, args);
  else {
    judgeOperands(subject, call, spec.operands, spec.judge && OF_OWN_RULES);
    report(subject, spec, label);
  }
}

/** Judges the options of a program, up to a subcommand, and what its judge finds. */
export function judgeOwn(
  subject: CommandAnalysis,
  spec: ProgramSpec,
  label: string,
  given: readonly Argument[],
): ProgramCall {
  const { options = {}, subcommands, stopsAtOperand = subcommands !== undefined } = spec;
  const args = spec.isBundled === true ? withDashes(given, options) : given;
  const parsed = stopsAtOperand ? parseBeforeOperand(args, options) : parseArguments(args, options);
  takeOptions(subject, label, parsed.options, args.slice(0, args.length - parsed.rest.length));
  judgeOptions(subject, spec, parsed, label);
  const call = { ...parsed, label, args };
  spec.judge?.(subject, call, spec);
  if (spec.writes !== undefined) subject.write(literal(spec.writes));
  for (const rule of spec.words ?? []) judgeWord(subject, rule, call);
  return call;
}

/** `tar xf FILE`: the first word may be options without a dash, whose values follow in the same order. */
function withDashes(args: readonly Argument[], options: NonNullable<ProgramSpec['options']>): readonly Argument[] {
  const [first, ...values] = args;
  if (first?.value === undefined || !/^[a-zA-Z]+$/.test(first.value)) return args;
  const words: Argument[] = [];
  for (const letter of first.value) {
    words.push(literal(`-${letter}`));
    const taken = options[`-${letter}`]?.value ? values.shift() : undefined;
    if (taken) words.push(taken);
  }
  return [...words, ...values];
}

/** Adds the effect of a word among the arguments, if it is there, or if none is. */
function judgeWord(subject: CommandAnalysis, rule: WordRule, call: ProgramCall): void {
  const { isAbsent, isFed, class: effect, reason } = rule;
  const word = wordFor(subject, rule, call);
  if ((word !== undefined) === isAbsent || (isFed && !subject.command.stdin)) return;
  const { program = 'it' } = subject;
  subject.states(
    effect,
    '',
    reason.replace('{it}', program).replace('{word}', () => word?.text ?? ''),
  );
}

/** The word that meets a condition; an empty one stands for an input. */
function wordFor(
  { command: { stdin }, inquiry }: CommandAnalysis,
  { condition }: WordRule,
  { args, operands, options }: ProgramCall,
): Argument | undefined {
  if (condition instanceof RegExp) return args.find(({ shape }) => condition.test(shape));
  if (condition === 'operand') return operands[0];
  if (condition === 'process') return args.find(({ isProcess }) => isProcess);
  const words = [...args, ...options.flatMap(({ value }) => value ?? [])];
  const isThere =
    condition === 'input' ||
    (condition === 'input named'
      ? words.some(({ value }) => isInputName(value))
      : stdin?.kind === 'unknown' && inquiry.programs.has(stdin.what, 'fetches'));
  return stdin && isThere ? literal('') : undefined;
}

function judgeOptions(subject: CommandAnalysis, spec: ProgramSpec, parsed: ParsedArguments, label: string): void {
  for (const { name, spec: option, value } of parsed.options)
    if (option) judgeOption(subject, option, `${label} ${name}`, value);
  const isReader = spec.class === 'read' && spec.knowsAllOptions !== true && label === subject.program;
  if (isReader) judgeUnknownOptions(subject, parsed, label);
  const { unknownWords } = spec;
  for (const argument of parsed.doubtful) {
    if (unknownWords === 'operands' || (unknownWords === 'quoted operands' && !argument.maySplit)) continue;
    subject.take(argument.text, 'an option or an operand: this is known only at run time');
    if (mayBeStricterOption(spec.options ?? {}, argument)) subject.addUnknown(argument, `an option of ${label}`);
  }
}

/** An option of a program that reads may name another program, as `--diff-program` of diff3. */
function judgeUnknownOptions(subject: CommandAnalysis, { options }: ParsedArguments, label: string): void {
  const unknown = options.find((option) => option.spec === undefined && isUnknownReadingOption(option.name));
  if (unknown) subject.does('has an option that is not known', unknown.name, label);
}

/** Judges the likeliest subcommand, and every other word that may be one if it is known. */
function judgeSubcommands(subject: CommandAnalysis, spec: ProgramSpec, label: string, args: readonly Argument[]): void {
  const [first, ...others] = subcommandsIn(args, spec.options ?? {});
  if (first) judgeSubcommand(subject, spec, label, first);
  for (const { name, rest } of others) {
    const known = subcommandOf(spec, name.shape);
    if (known) judgeProgram(subject, known, `${label} ${name.shape}`, rest);
  }
}

const subcommandOf = ({ subcommands = {} }: ProgramSpec, name: string): ProgramSpec | undefined =>
  Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;

function judgeSubcommand(
  subject: CommandAnalysis,
  spec: ProgramSpec,
  label: string,
  { name, rest }: SubcommandReading,
): void {
  const { value } = name;
  subject.take(name.text, `a subcommand of ${label}`);
  const known = value === undefined ? undefined : subcommandOf(spec, value);
  if (value === undefined) subject.addUnknown(name, `the subcommand of ${label}`);
  if (known) judgeProgram(subject, known, `${label} ${value ?? ''}`, rest);
  else {
    // The program's own options may follow a subcommand.
    const { options = {} } = spec;
    const parsed = parseArguments(rest, options);
    takeOptions(subject, label, parsed.options, rest);
    judgeOptions(subject, spec, { ...parsed, doubtful: [] }, label);
    judgeOperands(subject, { ...parsed, operands: rest, label, args: rest }, undefined);
    report(subject, spec, label);
  }
}

/** Adds the minimum finding of the program, unless a finding of that class exists. */
function report(subject: CommandAnalysis, spec: ProgramSpec, label: string): void {
  if (spec.class !== 'read' && (spec.class === 'fatal' || !subject.hasFound(spec.class)))
    subject.states(spec.class, label, spec.reason);
}

const OF_OWN_RULES = 'an operand, judged by rules of this program alone';

/** Whether an unknown argument could be an option that makes the command stricter than without it. */
function mayBeStricterOption(options: Readonly<Record<string, OptionSpec>>, { maySplit }: Argument): boolean {
  return Object.values(options).some(({ class: effect, value }) => {
    const isSevere = effect === 'fatal' || (effect !== undefined && rankOf(effect) >= rankOf('destructive'));
    return isSevere || value?.risk === 'executes' || (maySplit && value?.risk === 'writes');
  });
}

/** Names of options whose value most programs take for a file or directory that they write. */
const OUTPUT =
  /^--?(?:o|O|d|out|output|base-?temp|te?mp-?dir|(?:out|output|log|report|result|dest|destination|target|export|dump|trace|save|write)[-_]?(?:file|dir|directory|path|batch|to)?|\w*(?:profile|Profile)|redirect-warnings|outFile|outDir|outputFile|outputDirectory|junitxml|html-report|report-dir)$/;
/** Names of options with which programs change the files that are their operands. */
const EDITING = /^(?:-w|-i|--write|--fix|--in-place|--inplace|--overwrite|--update|--apply|--autocorrect)$/;
/** Names of options whose value is likely to be run as a command. */
const HOOK =
  /^--?(?:exec|execute|command|cmd|run|pager|editor|hook|preview|runner|wrapper|launcher|shell|(?:pre|post|init|on|before|after|setup|cleanup)[-_][\w-]+)$/;

/** Kinds of places that a program without a table may change unasked. */
const ORDINARY: ReadonlySet<PathKind> = new Set(['workspace', 'scratch', 'harmless', 'unknown']);

function* optionsLike({ args }: CommandAnalysis, name: RegExp): Generator<{ option: string; value: Argument }> {
  for (const [index, arg] of args.entries()) {
    const [option = '', file] = /^(--?\w[\w-]*)(?:=(.*))?$/s.exec(arg.shape)?.slice(1) ?? [];
    if (!name.test(option)) continue;
    const value = file === undefined ? args[index + 1] : tailOf(arg, option.length + 1);
    if (value) yield { option, value };
  }
}

/**
 * Judges the files that options are likely to write, outside of the workspace.
 * @param known options of which more is known
 */
export function judgeOutputs(subject: CommandAnalysis, known: NonNullable<ProgramSpec['options']>): void {
  for (const { option, value } of optionsLike(subject, OUTPUT)) {
    if (!Object.hasOwn(known, option) && isElsewhere(subject, value)) subject.write(value);
  }
}

/** Judges the operands of a program that is told to change its operands, outside of the workspace. */
export function judgeEditing(subject: CommandAnalysis): void {
  if (!subject.args.some(({ shape }) => EDITING.test(shape))) return;
  for (const arg of subject.args) if (!arg.shape.startsWith('-') && isElsewhere(subject, arg)) subject.write(arg);
}

/** Judges the values of options that are likely to be commands. */
export function judgeHooks(subject: CommandAnalysis): void {
  for (const { value } of optionsLike(subject, HOOK)) {
    if (value.value !== undefined && /\s/.test(value.value)) subject.inquiry.judgeText(value.value, subject.scope);
  }
}

/** Options whose value is text for people, or data: it may look like a command. */
const DESCRIBING =
  /^(?:-[a-zA-Z]*[mdbtDSFHk]|--?(?:message|title|body|notes?|description|subject|data[\w-]*|grep|labels?|name|comment|text|header|form[\w-]*|summary|value|json|field|raw-field|filter|query|env))$/;
/** Programs that destroy something, as the first word of a text. */
const DESTROYER = /^(?:sudo|doas|rm|rmdir|unlink|shred|dd|mkfs(?:\.\w+)?|wipefs|truncate|shutdown|reboot)\s/;
/** Subcommands after which a command follows. */
const EXECUTING = /^(?:exec|x|ssh|shell|console|env|enter|with|attach|run-command)$/;

/** Judges a command after `--`, and values of options that are commands which destroy something. */
export function judgeExecuted(subject: CommandAnalysis): void {
  const { args } = subject;
  const end = args.findIndex(({ shape }) => shape === '--');
  const command = args[end + 1];
  const runsIt = args.slice(0, Math.max(0, end)).some(({ shape }) => EXECUTING.test(shape));
  if (runsIt && command && !command.shape.startsWith('-')) subject.runWords(args.slice(end + 1));
  for (const { option, value } of optionsLike(subject, /^-/)) {
    if (DESTROYER.test(value.shape) && !DESCRIBING.test(option))
      subject.runText(value, `the command that ${subject.program ?? 'it'} runs`);
  }
}

/** Verbs that destroy what they are applied to, also as `db:drop` and `delete-stack`. */
const DESTROYING =
  /^(?:[\w-]+:)*(?:destroy|delete|drop|reset|purge|uninstall|terminate|wipe|flush\w*|unpublish)(?:[-_:]\w[\w:-]*)?$/;
/** Verbs after which another word is no verb. */
const OTHER_VERB =
  /^(?:run|test|exec|build|start|lint|check|watch|info|show|help|list|ls|get|search|describe|view|explain|new|add|create|generate)$/;
/** Programs whose first operand is a pattern of tests. */
const TEST_RUNNER = /^(?:jest|vitest|mocha|ava|pytest|py\.test|rspec|phpunit|ctest|tap|playwright|cypress|karma|tox)$/;

/** Judges the words of a program without a table that may be its subcommand: alone, or after the kind of an object. */
export function judgeVerbs(subject: CommandAnalysis): void {
  const { args, program = 'it' } = subject;
  if (TEST_RUNNER.test(program)) return;
  for (const { name, rest } of subcommandsIn(args, {})) {
    const [next] = OTHER_VERB.test(name.shape) ? [] : rest;
    const verb = [name, next].find((word) => word?.value !== undefined && DESTROYING.test(word.value));
    if (verb) subject.does('may destroy something', verb.text);
  }
}

/** Options that name a file which most programs only read. */
const READING =
  /^--?(?:i|c|f|F|config[\w-]*|rcfile|kubeconfig|userconfig|identity[\w-]*|(?:[\w-]+-)?key[\w-]*|cert[\w-]*|ca[\w-]*|credentials?[\w-]*|[\w-]+-file|profile|inventory|settings|source|input|from|include|file)$/;

/**
 * Judges values of options that are files at home with credentials, or that run later.
 * @param known options of which more is known
 */
export function judgeOptionPaths(subject: CommandAnalysis, known: NonNullable<ProgramSpec['options']>): void {
  for (const { option, value } of optionsLike(subject, /^-/)) {
    if (Object.hasOwn(known, option)) continue;
    const file = tailOf(value, /^(?:@|[\w.-]+=@?)/.exec(value.shape)?.[0].length ?? 0);
    for (const path of pathsElsewhere(subject, file)) {
      if (isSecret(path, subject.inquiry.facts)) subject.read(file);
      else if (kindOf(path, subject.inquiry.facts) === 'startup' && !READING.test(option)) subject.write(file);
    }
  }
}

/** The absolute paths of an argument that lead out of the workspace, to places that matter. */
function pathsElsewhere({ inquiry, scope }: CommandAnalysis, { value, isGlob }: Argument): readonly string[] {
  const paths = value?.includes('/') === true ? resolvePath(value, scope.directories) : [];
  const { facts } = inquiry;
  return paths.filter(
    (path): path is string =>
      path !== undefined && !isWithin(path, facts.workspace) && !ORDINARY.has(kindOf(path, facts, isGlob)),
  );
}

function isElsewhere({ inquiry, scope }: CommandAnalysis, { value, isGlob }: Argument): boolean {
  const paths = value === undefined ? [] : resolvePath(value, scope.directories);
  return paths.some((path) => !ORDINARY.has(kindOf(path, inquiry.facts, isGlob)));
}

/** Operators that open a file for writing. */
const WRITING = new Set(['>', '>>', '>|', '&>', '&>>', '<>', '>&']);

/** A file descriptor number, or the closing mark. */
const DESCRIPTOR = /^(?:\d+-?|-)$/;

export function judgeRedirects(subject: CommandAnalysis): void {
  const { command } = subject;
  for (const { operator, target } of command.redirects) {
    if (!target || isDuplication(operator, target)) continue;
    if (WRITING.has(operator)) {
      subject.take(`${operator}${target.text}`, 'a file that the shell writes');
      subject.write(target, false);
      subject.noteWritten(target, outputOf({ ...command, redirects: [] }, subject.inquiry));
    } else judgeInput(subject, target);
  }
}

/** `2>&1`, `<&3`: copies a file descriptor, whose target was judged where it was opened. */
const isDuplication = (operator: string, { value }: Argument): boolean =>
  operator === '<&' || (operator === '>&' && value !== undefined && DESCRIPTOR.test(value));

/** A file that is opened for reading, or a network connection in the form of a file. */
function judgeInput(subject: CommandAnalysis, target: Argument): void {
  const { value } = target;
  subject.take(`<${target.text}`, 'the standard input');
  if (value?.startsWith('/dev/tcp/') === true || value?.startsWith('/dev/udp/') === true)
    subject.causes('opens a connection', value, '');
  else subject.read(target);
}
