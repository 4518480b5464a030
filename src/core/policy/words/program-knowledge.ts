import type { CommandClass, Directory, TypingProgram } from '../model.js';
import type { Argument } from './argument.js';
import type { ListedBelow, SimpleCommand } from './simple-command.js';

/**
 * Property of a program on which the analysis of other commands depends.
 *
 * - `builtin`: shells run it internally, so that no program of that name on PATH replaces it.
 * - `prefix`: a precommand modifier that does not change which program runs: `command`, `noglob`.
 * - `shell`: it runs scripts in a language that the parser supports.
 * - `runnable`: an unknown program may run it when it is given its name, which is an unlikely name of a script.
 * - `versioned`: its name may have a version as a suffix, as in `python3.11`.
 * - `fetches`: what it writes comes from another machine.
 * - `metadata`: it prints properties of a file, but not its content.
 * - `unread`: it takes names of files whose content it does not read.
 * - `links`: it may put a symbolic link in place of a directory.
 * - `history`: it keeps versions of files; its options take messages and patterns.
 * - `edits`: it changes files according to a script, so the verdict depends on the files that it is given.
 * - `declares`: a builtin that assigns the values of its arguments.
 * - `variables`: it sets variables to values that no table predicts.
 * - `anyVariable`: it may set any variable, not only those that its arguments name.
 */
export type ProgramTrait =
  | 'builtin'
  | 'prefix'
  | 'shell'
  | 'runnable'
  | 'versioned'
  | 'fetches'
  | 'metadata'
  | 'unread'
  | 'links'
  | 'history'
  | 'edits'
  | 'declares'
  | 'variables'
  | 'anyVariable';

/** Output of a command whose words are known; undefined when the output is unknown. */
export type KnownOutput = (command: Pick<SimpleCommand, 'args' | 'stdin'>) => string | undefined;

/** Samples of the file names that a command prints; undefined when it may print others. */
export type ListedNames = (args: readonly Argument[]) => readonly Argument[] | undefined;

/** The directories below which the files are that a command names in its output. */
export type ListedPlaces = (args: readonly Argument[]) => ListedBelow;

/** Possible directories after a command has succeeded; `home` is the user's home directory. */
export type DirectoryChange = (
  args: readonly Argument[],
  directories: readonly Directory[],
  home: Directory,
) => readonly Directory[];

/** A substitution that always prints one plain word: its text, and a sample of that word. */
export type PlainSubstitution = readonly [text: RegExp, sample: string];

/** Effect of setting a variable that programs follow. */
export interface VariableRule {
  readonly names: RegExp;
  readonly class: CommandClass;
  /** Description of the effect, following the name: "adds options to a program". */
  readonly what: string;
  /** Values without this effect. */
  readonly harmless?: RegExp;
}

/** Knowledge about programs, joined from all families. Names are plain: see `plainName`. */
export interface ProgramKnowledge {
  /** Name of a program as used in the tables: without its directory and its version. */
  plainName(name: string): string;
  /** Whether a program has a trait. */
  has(name: string, trait: ProgramTrait): boolean;
  /** Whether a word among arguments is more likely to be a program than another kind of name. */
  isRunnable(word: string): boolean;
  /** How a program takes typed input; undefined when it treats typed input as data. */
  typingOf(name: string): TypingProgram | undefined;
  /** How a program's output follows from its words; undefined when it does not. */
  outputOf(name: string): KnownOutput | undefined;
  /** How the file names that a program prints follow from its arguments; undefined when they do not. */
  listedBy(name: string): ListedNames | undefined;
  /** Below which directories the files are that a program names in its output; undefined when it names none. */
  listedBelow(name: string): ListedPlaces | undefined;
  /** How a program changes the shell's directory; undefined when it does not. */
  directoryChangeOf(name: string): DirectoryChange | undefined;
  /** Sample of the word that a substitution prints; undefined when it is unknown. */
  printedBy(substitution: string): string | undefined;
  /** Effect of setting a variable that a program follows; undefined when no family has a rule for it. */
  variableRuleOf(name: string): VariableRule | undefined;
  /** Whether a program runs the value of a variable as a command, as make does with `CC`. */
  isCommandVariable(name: string): boolean;
}

/** What determines the meaning of names in a text. */
export interface NamesContext {
  /** Whether a program may be an alias, a function or a file here. */
  readonly isOwnName: (name: string) => boolean;
  readonly programs: ProgramKnowledge;
}

/** Directories whose programs have their usual meaning. */
const STANDARD_DIRECTORY = /^(?:\/usr(?:\/local)?|\/opt\/homebrew)?\/s?bin\/[^/]+$/;

/** Whether a path is that of a system program, which has its usual meaning. */
export const isStandardProgram = (path: string): boolean => STANDARD_DIRECTORY.test(path);

/** The program of a command and its arguments, after precommand modifiers; no program when it is unknown. */
export function stripPrefixes(
  { name, args }: Pick<SimpleCommand, 'name' | 'args'>,
  programs: ProgramKnowledge,
): { readonly program: string | undefined; readonly args: readonly Argument[] } {
  if (name?.value === undefined || name.isGlob || name.isSample) return { program: undefined, args };
  const at = programs.has(name.value, 'prefix') ? args.findIndex(({ shape }) => !shape.startsWith('-')) : -1;
  return at === -1
    ? { program: programs.plainName(name.value), args }
    : stripPrefixes({ name: args[at], args: args.slice(at + 1) }, programs);
}
