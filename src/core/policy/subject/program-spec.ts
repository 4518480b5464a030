import type { CommandClass } from '../model/classes.js';
import type { CommandAnalysis } from './command-analysis.js';

/**
 * Role of an option's value: plain text, a file that is read or written, text for a shell, `source`: a whole program in
 * the interpreter's own language, or `code`: anything else that is executed (a module to load, a program to start, an
 * expression inside another program).
 */
export type ValueRole = 'text' | 'read' | 'write' | 'shell' | 'source' | 'code';

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

/** Role of the operands. `last-written`: all but the last are read. `first-read`: the remaining ones are text. */
export type OperandRole = 'text' | 'read' | 'write' | 'last-written' | 'remove' | 'shell';

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
  /** Additional checks that a table cannot express. */
  readonly judge?: (subject: CommandAnalysis) => void;
}

/** Programs by their names. */
export type ProgramTable = Readonly<Record<string, ProgramSpec>>;

/** One spec for several names, separated by blanks. */
export const each = <T>(names: string, spec: T): Readonly<Record<string, T>> =>
  Object.fromEntries(names.split(' ').map((name) => [name, spec]));

/** Options that take a value without any effect; it is not an operand. */
export const valued = (names: string): Readonly<Record<string, OptionSpec>> => each(names, { value: 'text' });
