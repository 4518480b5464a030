import { literal } from '../words/argument.js';
import { judgeAssignments } from '../subject/assignments.js';
import type { JudgedCommand } from '../model/finding.js';
import type { AnalysisContext } from '../words/analysis-context.js';
import { tailOf } from '../subject/options.js';
import { judgeProgram } from '../subject/judge-program.js';
import { PROGRAMS } from '../programs/programs.js';
import { isStandardProgram } from '../words/program-name.js';
import { judgeRedirects } from '../subject/redirects.js';
import { judgeWrittenProgram } from '../subject/run-file.js';
import type { Scope, SimpleCommand } from '../words/simple-command.js';
import { subcommandsIn } from '../subject/subcommands.js';
import { judgeGivenTexts } from '../subject/given-commands.js';
import { CommandAnalysis } from '../subject/command-analysis.js';
import { judgeWrapper } from './unwrap.js';

/** Judges a simple command: its assignments, the files it opens, and its program. */
export function judgeSimpleCommand(command: SimpleCommand, scope: Scope, inquiry: AnalysisContext): JudgedCommand {
  const { name } = command;
  // zsh: `$~x` and `$=x` are variables.
  const isZsh = inquiry.facts.shell === 'zsh' && name?.isQuoted === false && name.text.startsWith('$');
  const isKnown = name?.value !== undefined && !name.isGlob && !name.isSample && !name.isProcess && !isZsh;
  const program = isKnown ? PROGRAMS.plainName(name.value) : undefined;
  const subject = new CommandAnalysis(command, scope, inquiry, program);
  judgeAssignments(subject, command.assignments);
  judgeRedirects(subject);
  if (name && program === undefined) {
    subject.addUnknown(name, 'the program');
    inquiry.noteNamesChange();
  } else if (name && program !== undefined) {
    judgeNamed(subject, name.value ?? '', program);
    subject.addTyping();
  }
  return subject.result();
}

function judgeNamed(subject: CommandAnalysis, calledAs: string, program: string): void {
  const { inquiry } = subject;
  const isBare = !calledAs.includes('/');
  if (isBare) judgeOwnName(subject, calledAs);
  if (judgeByFirstWord(subject, program)) return;
  const wrapper = PROGRAMS.wrapperOf(program);
  if (wrapper) judgeWrapper(subject, program, wrapper);
  else {
    const spec = PROGRAMS.showingSpecOf(program, subject.args) ?? PROGRAMS.specOf(program);
    if (spec) judgeProgram(subject, spec, program);
    else judgeUnknown(subject, program);
  }
  if (!isBare && subject.command.name) judgeWrittenProgram(subject, subject.command.name);
  const { facts } = inquiry;
  if (!isBare && !isStandardProgram(calledAs)) subject.add('execute', `runs ${calledAs}`);
  else if (isBare && facts.areNamesUnknown) subject.add('execute', `${program} may be an alias or a function`);
  else if (isBare && facts.isPathChanged && !PROGRAMS.has(program, 'builtin'))
    subject.add('execute', `${program} may be another program: PATH was changed`);
}

/**
 * Judges the command that a program's subcommand runs.
 * @returns whether the judgement is complete
 */
function judgeByFirstWord(subject: CommandAnalysis, program: string): boolean {
  if (!PROGRAMS.runsBySubcommand(program)) return false;
  const { args } = subject;
  const readings = subcommandsIn(args, PROGRAMS.specOf(program)?.options ?? {});
  // Some programs have an option in place of a subcommand.
  const options = args.flatMap((name, index) => {
    const isOne = name.shape.startsWith('-') && PROGRAMS.wrapperOf(`${program} ${name.shape}`) !== undefined;
    return isOne ? [{ name, rest: args.slice(index + 1), isCertain: true }] : [];
  });
  const all = [...options, ...readings];
  let isWhole = false;
  for (const { name, rest, isCertain } of all) {
    const label = `${program} ${name.value ?? ''}`;
    const wrapper = PROGRAMS.wrapperOf(label);
    const equivalent = PROGRAMS.equivalentOf(label);
    if (wrapper) judgeWrapper(subject, label, wrapper, rest);
    else if (equivalent !== undefined) subject.runWords([literal(equivalent), ...rest]);
    isWhole ||= isCertain && (wrapper !== undefined || equivalent !== undefined);
  }
  return isWhole;
}

/** Letters that resemble ASCII letters. */
const LOOK_ALIKE = /[\p{Script=Cyrillic}\p{Script=Greek}]/u;
const FULL_WIDTH = /[\uff01-\uff5e\u037e]/;
/** Options that name an output file. */
const OUTPUT = /^(?:-o|--(?:output|out|outfile|output-file|out-file))$/;

/**
 * A program that is in no table counts as executed; the files in its arguments count as read or written, as far as they
 * are recognisable. If its arguments resemble a command, that command is judged as well.
 */
function judgeUnknown(subject: CommandAnalysis, program: string): void {
  const { args } = subject;
  subject.add('execute', `${program} is not a known program`);
  if (FULL_WIDTH.test(program) || (LOOK_ALIKE.test(program) && /[a-z]/i.test(program)))
    subject.addSideEffect('obfuscated', `${program} contains letters that look like ASCII letters`);
  args.forEach((arg, index) => {
    const [name = '', file] = /^(--?\w[\w-]*)(?:=(.*))?$/s.exec(arg.shape)?.slice(1) ?? [];
    if (!OUTPUT.test(name)) return;
    const target = file === undefined ? args[index + 1] : tailOf(arg, name.length + 1);
    if (target?.value !== undefined) subject.write(target);
  });
  const inner = args.findIndex(({ value }) => value !== undefined && PROGRAMS.isRunnable(value));
  if (inner !== -1 && inner < args.length - 1) subject.runWords(args.slice(inner));
  judgeGivenTexts(subject, program);
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
  const alias = command.name?.isQuoted === true ? undefined : inquiry.findAlias(name);
  if (alias !== undefined) {
    const next = command.args[0]?.text;
    if (/\s$/.test(alias) && next !== undefined && inquiry.findAlias(next) !== undefined) {
      subject.addSideEffect('obfuscated', `an alias follows an alias: ${name} ${next}`);
    }
    inquiry.judgeText([alias, ...command.args.map(({ text }) => text)].join(' '), inner);
  }
  const body = inquiry.findFunction(name, command.stdin !== undefined);
  if (body !== undefined && body !== '') inquiry.judgeText(body, inner);
}
