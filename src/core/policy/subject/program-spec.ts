import type { CommandClass } from '../model.js';
import type { Argument } from '../words/argument.js';
import type { CommandAnalysis } from './command-analysis.js';
import { parseArguments } from './options.js';

/**
 * Role of an option's value.
 *
 * - `text`: it has no effect.
 * - `read`, `write`: a file or directory that is read or written.
 * - `settings`: a file of settings, which a project has in its workspace: read if it is elsewhere.
 * - `into`: a directory that gets files with the names of the operands.
 * - `shell`: text for a shell.
 * - `source`: a whole program in the interpreter's own language.
 * - `code`: anything else that is executed: a module to load, an expression inside another program.
 * - `program`: a program that is started; unlike `code`, an unknown word is not taken for such an option.
 * - `mount`: a directory of this machine that a container gets, before a colon.
 * - `index`: an index of packages, or its host.
 * - `packages`: a file that names packages, or its address.
 * - `rename`: a substitution that changes the names of files: `s,from,to,`.
 */
export type ValueRole =
  | 'text'
  | 'read'
  | 'write'
  | 'settings'
  | 'into'
  | 'shell'
  | 'source'
  | 'code'
  | 'program'
  | 'mount'
  | 'index'
  | 'packages'
  | 'rename';

/** Effect of an option. */
export interface OptionSpec {
  /** Class of the command with this option. */
  readonly class?: CommandClass;
  readonly reason?: string;
  /** Role of the value, if the option takes one. */
  readonly value?: ValueRole;
  /** Values without this effect. */
  readonly harmless?: RegExp;
  /** Whether all arguments after it belong to something else: `python -m MODULE ARGUMENTS`. @default false */
  readonly isLast?: boolean;
}

/**
 * Role of the operands. `last-written`: all but the last are read. `into`: the last one is a name, or a directory that
 * gets files with the names of the others. `members`: the first is an archive, from which the others are unpacked.
 */
export type OperandRole = 'text' | 'read' | 'write' | 'last-written' | 'into' | 'members' | 'remove' | 'shell';

/** An option in a command's arguments. */
export interface GivenOption {
  readonly name: string;
  readonly spec: OptionSpec | undefined;
  readonly value: Argument | undefined;
}

/** Arguments, split into options and operands. */
export interface ParsedArguments {
  readonly options: readonly GivenOption[];
  readonly operands: readonly Argument[];
  /** Arguments that may be an option or an operand, which is known only at run time. Also listed among the operands. */
  readonly doubtful: readonly Argument[];
  /** The arguments after the first operand or the last option, unparsed, when parsing stopped there. */
  readonly rest: readonly Argument[];
}

/** The call of a program or of its subcommand, read by its spec. */
export interface ProgramCall extends ParsedArguments {
  /** The program, and its subcommands. */
  readonly label: string;
  /** All arguments after them. */
  readonly args: readonly Argument[];
}

/** An effect of a program whose arguments contain a certain word, or none like it. */
export interface WordRule {
  /** The first argument that it matches counts. */
  readonly pattern: RegExp;
  readonly isAbsent: boolean;
  readonly class: CommandClass;
  /** `{it}` stands for the program, `{word}` for the argument. */
  readonly reason: string;
}

/** Knowledge about a program. */
export interface ProgramSpec {
  /** Minimum class of the program. */
  readonly class: CommandClass;
  /** Description of the effect, following the name: "deletes files". */
  readonly reason?: string;
  /** @default 'read' */
  readonly operands?: OperandRole;
  /** By option name, with dashes. */
  readonly options?: Readonly<Record<string, OptionSpec>>;
  /** Whether what follows the first operand belongs to another program. @default false */
  readonly stopsAtOperand?: boolean;
  /** By the first operand; with any other operand the program's own spec applies. */
  readonly subcommands?: Readonly<Record<string, ProgramSpec>>;
  /** Effects that single words among its arguments have. */
  readonly words?: readonly WordRule[];
  /** Additional checks that a table cannot express. They judge what was parsed, not the words of the whole command. */
  readonly judge?: (subject: CommandAnalysis, call: ProgramCall, spec: ProgramSpec) => void;
}

/** One spec for several names, separated by blanks. */
export const each = <T>(names: string, spec: T): Readonly<Record<string, T>> =>
  Object.fromEntries(names.split(' ').map((name) => [name, spec]));

/** Options that take a value without any effect; it is not an operand. */
export const valued = (names: string): Readonly<Record<string, OptionSpec>> => each(names, { value: 'text' });

/** Options without a value and without any effect: the word after one of them is no value. */
export const flags = (names: string): Readonly<Record<string, OptionSpec>> => each(names, {});

/** A word that may be a subcommand, with the words after it. */
export interface SubcommandReading {
  readonly name: Argument;
  readonly rest: readonly Argument[];
  /** It cannot be the value of an option. */
  readonly isCertain: boolean;
}

/**
 * The ways to read arguments up to the first operand, the likeliest first: the value of an unknown option resembles an
 * operand, so what follows is read as well.
 */
function readingsOf(
  args: readonly Argument[],
  options: Readonly<Record<string, OptionSpec>>,
): readonly ParsedArguments[] {
  const readings: ParsedArguments[] = [];
  let rest = args;
  for (;;) {
    const parsed = parseArguments(rest, { options, stopsAtOperand: true });
    readings.push(parsed);
    if (parsed.operands.length === 0 || !mayBeValue(parsed)) return readings;
    ({ rest } = parsed);
  }
}

/** The words of a program's arguments that may be its subcommand, the likeliest first. */
export const subcommandsIn = (
  args: readonly Argument[],
  options: Readonly<Record<string, OptionSpec>>,
): readonly SubcommandReading[] =>
  readingsOf(args, options).flatMap((parsed) => {
    const [name] = parsed.operands;
    return name ? [{ name, rest: parsed.rest, isCertain: !mayBeValue(parsed) }] : [];
  });

/** Arguments up to the first operand, with the options of all readings. */
export function parseBeforeOperand(
  args: readonly Argument[],
  options: Readonly<Record<string, OptionSpec>>,
): ParsedArguments {
  const readings = readingsOf(args, options);
  const [first = parseArguments(args, { options, stopsAtOperand: true })] = readings;
  return readings.length < 2 ? first : { ...first, options: readings.flatMap((parsed) => parsed.options) };
}

/** Whether the first operand may be the value of the option before it. */
function mayBeValue({ options }: ParsedArguments): boolean {
  const last = options.at(-1);
  return last !== undefined && last.spec === undefined && last.value === undefined;
}
