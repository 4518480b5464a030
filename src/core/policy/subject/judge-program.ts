import type { Argument } from '../words/argument.js';
import { rankOf } from '../model/classes.js';
import { judgeCopies, judgeMembers } from './copying.js';
import { readNamedFiles } from './listed-files.js';
import { CLASS_DESCRIPTIONS, judgeOption } from './option-values.js';
import { isExecuted, type ParsedArguments, parseArguments } from './options.js';
import type { OperandRole, OptionSpec, ProgramCall, ProgramSpec } from './program-spec.js';
import { parseBeforeOperand, type SubcommandReading, subcommandsIn } from './subcommands.js';
import type { CommandAnalysis } from './command-analysis.js';

/** Options of many programs with which the input names the files that they read. */
const NAMED_BY_INPUT = /^(?:--files0?-from(?:=|$)|--stdin-paths$|-@$)/;

/** Judges a program by its entry in the tables. */
export function judgeProgram(subject: CommandAnalysis, spec: ProgramSpec, label: string, args = subject.args): void {
  const { subcommands } = spec;
  const call = judgeOwn(subject, spec, label, args);
  if (args === subject.args && args.some(({ shape }) => NAMED_BY_INPUT.test(shape))) readNamedFiles(subject);
  if (subcommands && call.operands[0]) judgeSubcommands(subject, { ...spec, subcommands }, label, args);
  else {
    judgeOperands(subject, spec.operands ?? 'read', call);
    report(subject, spec, label);
  }
}

/** Judges the options of a program, up to a subcommand, and what its judge finds. */
export function judgeOwn(
  subject: CommandAnalysis,
  spec: ProgramSpec,
  label: string,
  args: readonly Argument[],
): ProgramCall {
  const { options = {}, subcommands, stopsAtOperand = subcommands !== undefined } = spec;
  const parsed = stopsAtOperand ? parseBeforeOperand(args, options) : parseArguments(args, { options });
  judgeOptions(subject, options, parsed, label);
  const call = { ...parsed, label, args };
  spec.judge?.(subject, call);
  return call;
}

/** Judges the options of a program, and the arguments that may be one. */
function judgeOptions(
  subject: CommandAnalysis,
  options: NonNullable<ProgramSpec['options']>,
  parsed: ParsedArguments,
  label: string,
): void {
  for (const { name, spec, value } of parsed.options) {
    if (spec) judgeOption(subject, spec, `${label} ${name}`, value);
  }
  for (const argument of parsed.doubtful) {
    if (mayBeStricterOption(options, argument)) subject.addUnknown(argument, `an option of ${label}`);
  }
}

/** A program with subcommands. */
type SpecOfSubcommands = ProgramSpec & Required<Pick<ProgramSpec, 'subcommands'>>;

/** Judges the likeliest subcommand, and every other word that may be one if it is known. */
function judgeSubcommands(
  subject: CommandAnalysis,
  spec: SpecOfSubcommands,
  label: string,
  args: readonly Argument[],
): void {
  const [first, ...others] = subcommandsIn(args, spec.options ?? {});
  if (first) judgeSubcommand(subject, spec, label, first);
  for (const { name, rest } of others) {
    const known = Object.hasOwn(spec.subcommands, name.shape) ? spec.subcommands[name.shape] : undefined;
    if (known) judgeProgram(subject, known, `${label} ${name.shape}`, rest);
  }
}

function judgeSubcommand(
  subject: CommandAnalysis,
  spec: SpecOfSubcommands,
  label: string,
  { name, rest }: SubcommandReading,
): void {
  const { value } = name;
  const known = value !== undefined && Object.hasOwn(spec.subcommands, value) ? spec.subcommands[value] : undefined;
  if (value === undefined) subject.addUnknown(name, `the subcommand of ${label}`);
  if (known) judgeProgram(subject, known, `${label} ${value ?? ''}`, rest);
  else {
    // The program's own options may follow a subcommand.
    const { options = {} } = spec;
    const parsed = parseArguments(rest, { options });
    judgeOptions(subject, options, { ...parsed, doubtful: [] }, label);
    judgeOperands(subject, 'read', { ...parsed, operands: rest, label, args: rest });
    report(subject, spec, label);
  }
}

/** Adds the minimum finding of the program, unless a finding of that class exists. */
function report(subject: CommandAnalysis, spec: ProgramSpec, label: string): void {
  if (spec.class === 'read' || subject.hasFound(spec.class)) return;
  subject.add(spec.class, `${label} ${spec.reason ?? CLASS_DESCRIPTIONS[spec.class] ?? ''}`.trim());
}

function judgeOperands(subject: CommandAnalysis, role: OperandRole, call: ProgramCall): void {
  const { operands, label } = call;
  if (role === 'into') judgeCopies(subject, call);
  else if (role === 'members') judgeMembers(subject, call, operands.slice(1));
  else
    operands.forEach((operand, index) => {
      const isWritten = role === 'write' || (role === 'last-written' && index > 0 && index === operands.length - 1);
      if (isWritten) subject.write(operand);
      else if (role === 'remove') subject.remove(operand, `${label} deletes`, false);
      else if (role === 'shell') subject.runText(operand, `the command that ${label} runs`);
      else if (role !== 'text') subject.read(operand);
    });
}

/** Whether an unknown argument could be an option that makes the command stricter than without it. */
function mayBeStricterOption(options: Readonly<Record<string, OptionSpec>>, { maySplit }: Argument): boolean {
  return Object.values(options).some((option) => {
    const isSevere = option.class !== undefined && rankOf(option.class) >= rankOf('destructive');
    return isSevere || isExecuted(option) || (maySplit && option.value === 'write');
  });
}
