import type { EffectClass } from '../effects.js';
import type { Argument } from '../words/argument.js';
import type { CommandAnalysis } from './command-analysis.js';
import { type OperandRoles, type Role, ROLES } from './roles.js';

export interface OptionSpec {
  /** Class of the command with this option. */
  readonly class?: EffectClass;
  readonly reason?: string;
  /** Role of the value, if the option takes one. */
  readonly value?: Role;
  /** The roles of the operands with this option. @default those of the program */
  readonly operands?: OperandRoles;
  /** Values without this effect. */
  readonly harmless?: RegExp;
  /** Whether its value is never a word of its own, so that the next word is none. @default false */
  readonly isAttached?: boolean;
  /** Whether all arguments after it belong to something else: `python -m MODULE ARGUMENTS`. @default false */
  readonly isLast?: boolean;
}

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
  /**
   * The first argument that it matches counts, or the first operand, or the first argument that is the output of another
   * command. The others are about an input: any, one that an argument names, or one from another machine.
   */
  readonly condition: RegExp | 'operand' | 'process' | 'input' | 'input named' | 'input fetched';
  readonly isAbsent: boolean;
  /** Whether it has this effect only with an input. */
  readonly isFed: boolean;
  readonly class: EffectClass;
  /** `{it}` stands for the program, `{word}` for the argument. */
  readonly reason: string;
}

export interface ProgramSpec {
  /** Whether each option that it may be given is known, so that none of them asks as an unknown one. */
  readonly knowsAllOptions?: boolean;
  /** The least that the program does. */
  readonly class: EffectClass;
  /** Description of the effect, following the name: "deletes files". */
  readonly reason?: string;
  /** @default files that are read */
  readonly operands?: OperandRoles;
  /** By option name, with dashes. */
  readonly options?: Readonly<Record<string, OptionSpec>>;
  /** Whether what follows the first operand belongs to another program. @default false */
  readonly stopsAtOperand?: boolean;
  /** Whether the first word may be options without a dash. @default false */
  readonly isBundled?: boolean;
  /** Which words are never options among those that are known only at run time. @default none */
  readonly unknownWords?: 'operands' | 'quoted operands';
  /** A file that it always writes: one like those that its input names. */
  readonly writes?: string;
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
export const valued = (names: string): Readonly<Record<string, OptionSpec>> => each(names, { value: ROLES.text });
