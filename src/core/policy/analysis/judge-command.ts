import { type Argument, literal, type Scope, type SimpleCommand } from '../words/argument.js';
import { judgeAssignments } from '../subject/assignments.js';
import type { JudgedCommand } from '../model.js';
import type { AnalysisContext } from '../words/analysis-context.js';
import {
  judgeEditing,
  judgeExecuted,
  judgeHooks,
  judgeOptionPaths,
  judgeOutputs,
  judgeOwn,
  judgeProgram,
  judgeRedirects,
  judgeVerbs,
} from '../subject/judge-program.js';
import { isStandardProgram } from '../words/program-knowledge.js';
import { judgeWrittenProgram } from '../subject/inline-source.js';
import { type SubcommandReading, subcommandsIn } from '../subject/options.js';
import type { ProgramSpec } from '../subject/program-spec.js';
import { judgeGivenTexts } from '../subject/listed-files.js';
import { CommandAnalysis } from '../subject/command-analysis.js';
import { judgeWrapper } from './unwrap.js';

/** Judges a simple command: its assignments, the files it opens, and its program. */
export function judgeSimpleCommand(command: SimpleCommand, scope: Scope, inquiry: AnalysisContext): JudgedCommand {
  const { name } = command;
  const program = name && programNamedBy(name, inquiry);
  const subject = new CommandAnalysis(command, scope, inquiry, program);
  if (name && subject.isExplained) subject.take(name.text, describeProgram(subject, program));
  judgeAssignments(subject, command.assignments);
  judgeRedirects(subject);
  if (program !== undefined) {
    judgeNamed(subject, name?.value ?? '', program);
    subject.addTyping();
  } else if (name) {
    subject.addUnknown(name, 'the program');
    inquiry.noteNamesChange();
  }
  return subject.result();
}

function describeProgram({ inquiry }: CommandAnalysis, program: string | undefined): string {
  if (program === undefined) return 'a program that is known only at run time';
  const { wrapper, spec } = inquiry.programs.entryOf(program) ?? {};
  if (wrapper) return `the program ${program}, which runs another one`;
  if (!spec) return `${program}, which is in no table`;
  return `the program ${program}${spec.judge ? ', judged by rules of its own' : `: ${spec.class}`}`;
}

/** The program that a word names; undefined when it is known only at run time. */
function programNamedBy(name: Argument, { facts: { shell }, programs }: AnalysisContext): string | undefined {
  // zsh: `$~x` and `$=x` are variables.
  const isZshVariable = shell === 'zsh' && !name.isQuoted && name.text.startsWith('$');
  if (name.isGlob || name.isSample || name.isProcess || isZshVariable) return undefined;
  return name.value === undefined ? undefined : programs.plainName(name.value);
}

function judgeNamed(subject: CommandAnalysis, calledAs: string, program: string): void {
  const isBare = !calledAs.includes('/');
  if (isBare) judgeOwnName(subject, calledAs);
  if (judgeByFirstWord(subject, program)) return;
  judgeByTables(subject, program);
  if (isBare) judgeLookup(subject, program);
  else judgeFileAsProgram(subject, calledAs);
}

function judgeByTables(subject: CommandAnalysis, program: string): void {
  const wrapper = subject.inquiry.programs.entryOf(program)?.wrapper;
  if (wrapper) {
    judgeWrapper(subject, program, wrapper);
    return;
  }
  const spec = subject.inquiry.programs.specFor(program, subject.args);
  if (spec) judgeKnown(subject, spec, program);
  else judgeUnknown(subject, program);
}

/** Options that are in no table of the program may still write files. */
function judgeKnown(subject: CommandAnalysis, spec: ProgramSpec, program: string): void {
  judgeProgram(subject, spec, program);
  if (spec.class === 'read') return;
  judgeOutputs(subject, spec.options ?? {});
  judgeOptionPaths(subject, spec.options ?? {});
  // What git and its like are given in options are messages and patterns.
  if (!subject.inquiry.programs.has(program, 'history')) judgeExecuted(subject);
}

/** A name without a slash: the session may have given it another meaning. */
function judgeLookup(subject: CommandAnalysis, program: string): void {
  const { facts, programs } = subject.inquiry;
  if (facts.areNamesUnknown) subject.does('may be an alias or a function');
  else if (facts.isPathChanged && !programs.has(program, 'builtin'))
    subject.does('may be another program', 'PATH was changed');
}

/** A program that is called by its path: the text itself may have written that file. */
function judgeFileAsProgram(subject: CommandAnalysis, calledAs: string): void {
  const { name } = subject.command;
  if (name) judgeWrittenProgram(subject, name);
  if (name && !isStandardProgram(calledAs)) subject.noteScript(name);
  if (!isStandardProgram(calledAs)) subject.does('runs {what}', calledAs, '');
  if (/^https?:/.test(calledAs)) subject.does('runs code from another machine', calledAs, '');
}

/**
 * Judges the command that a program's subcommand runs.
 * @returns whether the judgement is complete
 */
function judgeByFirstWord(subject: CommandAnalysis, program: string): boolean {
  if (!subject.inquiry.programs.runsBySubcommand(program)) return false;
  const { args } = subject;
  const spec = subject.inquiry.programs.entryOf(program)?.spec;
  const readings = [...optionsAsSubcommands(subject, program), ...subcommandsIn(args, spec?.options ?? {})];
  // Where the first reading is in doubt, the tables judge all of them as well.
  const judged = readings.map((reading) => judgeSubcommandOf(subject, program, reading) && reading.isCertain);
  if (judged[0] !== true) return false;
  if (spec) judgeOwn(subject, spec, program, args);
  return true;
}

/** Some programs have an option in place of a subcommand. */
function optionsAsSubcommands({ inquiry, args }: CommandAnalysis, program: string): readonly SubcommandReading[] {
  return args.flatMap((name, index) => {
    const isOne =
      name.shape.startsWith('-') && inquiry.programs.entryOf(`${program} ${name.shape}`)?.wrapper !== undefined;
    return isOne ? [{ name, rest: args.slice(index + 1), isCertain: true }] : [];
  });
}

/** Judges the command that one subcommand runs; returns false when it runs none. */
function judgeSubcommandOf(subject: CommandAnalysis, program: string, { name, rest }: SubcommandReading): boolean {
  const label = `${program} ${name.value ?? ''}`;
  const { wrapper, sameAs } = subject.inquiry.programs.entryOf(label) ?? {};
  if (wrapper) judgeWrapper(subject, label, wrapper, rest);
  else if (sameAs !== undefined) subject.runWords([literal(sameAs), ...rest]);
  return wrapper !== undefined || sameAs !== undefined;
}

/** Letters that resemble ASCII letters. */
const LOOK_ALIKE = /[\p{Script=Cyrillic}\p{Script=Greek}]/u;
const FULL_WIDTH = /[\uff01-\uff5e\u037e]/;

/**
 * A program that is in no table counts as executed; the files in its arguments count as read or written, as far as they
 * are recognisable. If its arguments resemble a command, that command is judged as well.
 */
function judgeUnknown(subject: CommandAnalysis, program: string): void {
  const { args } = subject;
  subject.does('is not a known program');
  if (FULL_WIDTH.test(program) || (LOOK_ALIKE.test(program) && /[a-z]/i.test(program)))
    subject.causes('contains letters that look like ASCII letters');
  judgeOutputs(subject, {});
  judgeOptionPaths(subject, {});
  judgeEditing(subject);
  judgeExecuted(subject);
  judgeVerbs(subject);
  judgeHooks(subject);
  const inner = args.findIndex(({ value }) => value !== undefined && subject.inquiry.programs.isRunnable(value));
  if (inner !== -1 && inner < args.length - 1) subject.runWords(args.slice(inner));
  judgeGivenTexts(subject);
  for (const arg of subject.args) if (arg.value?.includes('/') === true) subject.read(arg);
}

/**
 * Aliases and functions take precedence over programs. Their text is judged in addition to the program; the stricter
 * verdict counts.
 */
function judgeOwnName(subject: CommandAnalysis, name: string): void {
  const { inquiry, scope, command } = subject;
  if (scope.expanding.includes(name)) return;
  const inner = { ...scope, expanding: [...scope.expanding, name], stdin: command.stdin };
  if (command.name?.isQuoted !== true) judgeAlias(subject, name, inner);
  const body = inquiry.bodyOf(name, command.stdin !== undefined);
  if (body !== '') {
    subject.take(name, 'a function, whose text is judged as well');
    inquiry.judgeText(body, inner);
  }
  const known = command.args.length > 0 ? withArguments(inquiry.bodyOf(name, true), command.args) : undefined;
  if (known !== undefined) inquiry.judgeText(known, inner);
}

/** Most times that the arguments of a call are put into a function. */
const MAX_CALLS = 16;

/** The body of a function with the arguments of a call in place of its parameters; undefined if it has none. */
function withArguments(body: string, args: readonly Argument[]): string | undefined {
  let count = 0;
  const text = body.replaceAll(PARAMETERS, (whole, quoted?: string, plain?: string) => {
    count += 1;
    const digit = quoted ?? plain;
    const given = digit === undefined ? args : args.slice(Number(digit) - 1, Number(digit));
    return given.length === 0 || count > MAX_CALLS ? whole : given.map((argument) => argument.text).join(' ');
  });
  return text === body ? undefined : text;
}

/** `"$@"`, `$*`, `"$1"`: parameters that are whole words. */
const PARAMETER = /\$(?:[@*]|\{[@*]\}|\{?([1-9])\}?)/.source;
const PARAMETERS = new RegExp(`(?<![\\w"'=/])(?:"${PARAMETER}"|${PARAMETER})(?![\\w"'/])`, 'g');

function judgeAlias(subject: CommandAnalysis, name: string, scope: Scope): void {
  const { inquiry, command } = subject;
  const alias = inquiry.findAlias(name);
  if (alias === undefined) return;
  subject.take(name, `an alias: ${alias}`);
  const words = command.args.map(({ text }) => text);
  const [next] = words;
  // After a blank at the end of an alias, the shell looks up the next word as an alias too.
  const isNextExpanded = /\s$/.test(alias) && next !== undefined && inquiry.findAlias(next) !== undefined;
  if (isNextExpanded) subject.causes('an alias follows an alias', `${name} ${next}`, '');
  inquiry.judgeText([alias, ...words].join(' '), scope);
}
