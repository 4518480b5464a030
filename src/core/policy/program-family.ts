import { type CommandClass, isTerminalName, type TypingProgram, type TypingTable } from './model.js';
import type { PathPatterns } from './path-kinds.js';
import type { OptionSpec, ProgramTable } from './subject/program-spec.js';
import type {
  DirectoryChange,
  KnownOutput,
  ListedNames,
  ListedPlaces,
  PlainSubstitution,
  ProgramTrait,
  VariableRule,
} from './words/program-knowledge.js';

/**
 * Programs that change the machine, with the arguments for which they only show its state: the usual commands for
 * diagnosis. A pattern matches all arguments, separated by one blank; arguments that do not match are judged by the
 * program's spec.
 */
export type ShowingTable = Readonly<Record<string, RegExp>>;

/** Arguments that each match one of the patterns, in any order; an empty list matches too. */
export const anyOf = (...patterns: string[]): RegExp => new RegExp(`^(?:(?:${patterns.join('|')})(?: |$))*$`);

/** One of the given first arguments, followed by any of the others. */
export const startingWith = (heads: string, ...others: string[]): RegExp =>
  new RegExp(`^(?:${heads})(?:$| (?:(?:${others.join('|')})(?: |$))*$)`);

/** Source of a pattern for an operand. */
export const WORD = String.raw`(?!-)\S+`;

/** Source of a pattern for a plain name. */
export const NAME = String.raw`[\w@][\w@.:+-]*`;

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

/**
 * Commands by the class that they have in a fresh shell in the workspace, with a terminal. Each spec, wrapper, pattern
 * and typing program of a family needs at least one, by any of its names.
 */
export type ProgramExamples = Readonly<Partial<Record<CommandClass, readonly string[]>>>;

/**
 * Everything that the policy knows about a group of related programs. A family is one folder; `programs.ts` joins all
 * of them. No family uses another one, and no program is in two of them.
 */
export interface ProgramFamily {
  /** Name of its folder. */
  readonly name: string;
  /** Effects of programs and of their options and operands. */
  readonly programs?: ProgramTable;
  /** Programs that run other programs. */
  readonly wrappers?: WrapperTable;
  /** Arguments for which a program that changes the machine only shows its state. */
  readonly showing?: ShowingTable;
  /** Programs that execute what is typed while they run. */
  readonly typing?: TypingTable;
  /** Names with each trait, separated by blanks. */
  readonly traits?: Readonly<Partial<Record<ProgramTrait, string>>>;
  /** Further names with the trait `runnable`. */
  readonly runnable?: RegExp;
  /** Subcommands that are programs of their own: `docker compose` is `docker-compose`. */
  readonly equivalents?: Readonly<Record<string, string>>;
  /** Programs with a known output. */
  readonly outputs?: Readonly<Record<string, KnownOutput>>;
  /** Programs that print names of files. */
  readonly lists?: Readonly<Record<string, ListedNames>>;
  /** Programs that print the names of the files below directories. */
  readonly finds?: Readonly<Record<string, ListedPlaces>>;
  /** Programs that change the shell's directory. */
  readonly directories?: Readonly<Record<string, DirectoryChange>>;
  /** Variables that change what its programs do. Rules of the shell itself come before them. */
  readonly variables?: readonly VariableRule[];
  /** Variables whose value its programs run as a command. */
  readonly commandVariables?: RegExp;
  /** Files that determine what its programs run later, or trust. */
  readonly startupPaths?: PathPatterns;
  /** Files among them that neither run nor are trusted. */
  readonly harmlessPaths?: PathPatterns;
  /** Substitutions that always print one plain word. */
  readonly substitutions?: readonly PlainSubstitution[];
  readonly examples: ProgramExamples;
}

/** Options with which a program only prints information about itself and exits. */
const INFORMS = /^(?:--version|--help|-version|-help)$/;

/**
 * Splits arguments into options before the first operand, and operands. `valued` lists options that take the next
 * argument.
 */
export function splitOptions(
  args: readonly string[],
  valued: ReadonlySet<string>,
): { options: string[]; operands: string[] } {
  const options: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    if (arg === '--') return { options, operands: args.slice(index + 1) };
    if (!/^[-+]./.test(arg)) return { options, operands: args.slice(index) };
    options.push(arg);
    if (valued.has(arg)) index += 1;
  }
  return { options, operands: [] };
}

/** The words of a text, separated by blanks. */
export const wordsOf = (text = ''): ReadonlySet<string> => new Set(text.split(' ').filter((word) => word !== ''));

/** Options of an interpreter that decide whether it reads the terminal. */
interface ReplOptions {
  /** Options that take a separate value. */
  readonly valued?: string;
  /** Options that supply the program, or that make the interpreter print something and exit. */
  readonly ends?: RegExp;
  /** Options with which it reads the terminal after its script. */
  readonly stays?: RegExp;
  /** Names of scripts or subcommands that read the terminal. */
  readonly typed?: RegExp;
}

/** An interpreter: it reads the terminal when no program is given. */
export function repl({ valued, ends = /^$/, stays = /^$/, typed = /^$/ }: ReplOptions): TypingProgram['takes'] {
  const taking = wordsOf(valued);
  return (args) => {
    const { options, operands } = splitOptions(args, taking);
    const [script] = operands;
    if (script !== undefined && typed.test(script)) return true;
    if (options.some((option) => INFORMS.test(option))) return false;
    if (options.some((option) => stays.test(option))) return true;
    if (options.some((option) => ends.test(option))) return false;
    return script === undefined || isTerminalName(script);
  };
}

/** A program that reads the terminal unless an option prevents it. */
export const unless =
  (ends: RegExp = /^$/): TypingProgram['takes'] =>
  (args) =>
    !args.some((arg) => INFORMS.test(arg) || ends.test(arg));

/** A program that reads the terminal unless it has more than `most` operands. */
export const upTo =
  (most: number, valued: string, ends: RegExp = /^$/): TypingProgram['takes'] =>
  (args) => {
    const taking = wordsOf(valued);
    const operands: string[] = [];
    // Options may stand between operands.
    for (let rest = args; rest.length > 0;) {
      const parts = splitOptions(rest, taking);
      if (parts.options.some((option) => INFORMS.test(option) || ends.test(option))) return false;
      operands.push(...parts.operands.slice(0, 1));
      rest = parts.operands.slice(1);
    }
    return operands.length <= most;
  };

/** `-f -`: a script is read from the terminal. */
export const typedScript: TypingProgram['takes'] = (args) =>
  args.some((arg, index) => {
    const [, attached] = /^(?:-f|--(?:file|makefile)=)(.*)$/s.exec(arg) ?? [];
    const file = attached === '' || /^--(?:make)?file$/.test(arg) ? (args[index + 1] ?? '') : attached;
    return isTerminalName(file ?? '');
  });

/** A program that executes typed input as code of its own language. */
export const typedCode = (takes: TypingProgram['takes'], reads: TypingProgram['reads'] = 'input'): TypingProgram => ({
  language: 'code',
  reads,
  takes,
});

/** A program that executes typed input as lines of a shell. */
export const typedShell = (takes: TypingProgram['takes']): TypingProgram => ({
  language: 'shell',
  reads: 'input',
  takes,
});
