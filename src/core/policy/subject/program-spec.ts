import type { CommandClass } from '../model/classes.js';
import type { CommandAnalysis } from './command-analysis.js';

/**
 * What the value of an option is: plain text, a file that is read or written, text for a shell, `source`: a whole program in
 * the interpreter's own language, or `code`: anything else that is executed (a module to load, a program to start, an expression
 * inside another program).
 */
export type ValueRole = 'text' | 'read' | 'write' | 'shell' | 'source' | 'code';

/** What an option does. */
export interface OptionSpec {
  /** What the command becomes by it. */
  readonly class?: CommandClass;
  readonly reason?: string;
  /** It takes a value, which is this. */
  readonly value?: ValueRole;
  /** Values with which it does nothing of the kind. */
  readonly harmless?: RegExp;
}

/** What the operands are. `last-written`: those before the last are read. `first-read`: what follows is text. */
export type OperandRole = 'text' | 'read' | 'write' | 'last-written' | 'remove' | 'shell';

/** What is known of a program. */
export interface ProgramSpec {
  /** What it does at least. */
  readonly class: CommandClass;
  /** What that is, behind its name: "deletes files". */
  readonly reason?: string;
  /** By default files that are read. */
  readonly operands?: OperandRole;
  /** By their names, with dashes. */
  readonly options?: Readonly<Record<string, OptionSpec>>;
  /** By the first operand; any other does what the program does. */
  readonly subcommands?: Readonly<Record<string, ProgramSpec>>;
  /** What no table can tell. */
  readonly judge?: (subject: CommandAnalysis) => void;
}

/** Programs by their names. */
export type ProgramTable = Readonly<Record<string, ProgramSpec>>;

/** The same for several names, which blanks separate. */
export const each = <T>(names: string, spec: T): Readonly<Record<string, T>> =>
  Object.fromEntries(names.split(' ').map((name) => [name, spec]));

/** Options that take a value of no consequence; it is not an operand. */
export const valued = (names: string): Readonly<Record<string, OptionSpec>> => each(names, { value: 'text' });
