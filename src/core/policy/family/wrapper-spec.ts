import type { CommandClass } from '../model/classes.js';
import type { OptionSpec } from '../subject/program-spec.js';

/** A program that runs another program, given in its arguments. */
export interface WrapperSpec {
  /** Class of the wrapper's own effect, beyond the program it runs. */
  readonly class?: CommandClass;
  readonly reason?: string;
  readonly options?: Readonly<Record<string, OptionSpec>>;
  /** Number of operands before the command. */
  readonly skips?: number;
  /** The skipped operands are names of files that it creates; numbers are file descriptors. */
  readonly writesSkipped?: boolean;
  /** `NAME=value` may precede the command. */
  readonly takesVariables?: boolean;
  /** A lone dash before the command is an option. */
  readonly takesDash?: boolean;
  /** The words are joined and interpreted by a shell. */
  readonly isJoined?: boolean;
  /** The words after an option with a command text belong to that text. */
  readonly continuesText?: boolean;
  /** It appends words from its input or another source. */
  readonly addsWords?: boolean;
  /** Words after a match are added inputs, not part of the command. */
  readonly inputsBehind?: RegExp;
  /** The command runs in an unknown directory. */
  readonly isElsewhere?: boolean;
  /** Its input is sent to another machine. */
  readonly sendsInput?: boolean;
  /** Without a command, a shell runs its input. */
  readonly runsInput?: boolean;
  /** Without a command, its redirections apply to the shell itself. */
  readonly redirectsShell?: boolean;
  /** Class of its effect without a command. */
  readonly bare?: CommandClass;
  /** Options may follow operands, and none of these is a command. */
  readonly hasNoCommand?: boolean;
  /** Options that make it run the command in another directory. */
  readonly changesDirectory?: readonly string[];
  /** Options with which it runs no command. */
  readonly asks?: readonly string[];
}

/** Programs that run others: keyed by name, or by name and subcommand or option, separated by a blank. */
export type WrapperTable = Readonly<Record<string, WrapperSpec>>;
