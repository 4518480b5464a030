import type { CommandClass, Directory } from '../model.js';
import type { ProgramCatalog } from '../program-catalog.js';
import type { Argument, ListedBelow, Stdin } from './argument.js';

/**
 * Properties of programs on which the analysis of other commands depends.
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
 */
export const PROGRAM_TRAITS = [
  'builtin',
  'prefix',
  'shell',
  'runnable',
  'versioned',
  'fetches',
  'metadata',
  'unread',
  'links',
  'history',
  'edits',
] as const;

/** Property of a program. */
export type ProgramTrait = (typeof PROGRAM_TRAITS)[number];

/** Output of a command whose words are known; undefined when the output is unknown. */
export type KnownOutput = (args: readonly Argument[], stdin: Stdin | undefined) => string | undefined;

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

/** Directories whose programs have their usual meaning. */
const STANDARD_DIRECTORY = /^(?:\/usr(?:\/local)?|\/opt\/homebrew)?\/s?bin\/[^/]+$/;

/** Whether a path is that of a system program, which has its usual meaning. */
export const isStandardProgram = (path: string): boolean => STANDARD_DIRECTORY.test(path);

/** The program of a command and its arguments, after precommand modifiers; no program when it is unknown. */
export function stripPrefixes(
  { name, args }: { readonly name: Argument | undefined; readonly args: readonly Argument[] },
  programs: ProgramCatalog,
): { readonly program: string | undefined; readonly args: readonly Argument[] } {
  if (name?.value === undefined || name.isGlob || name.isSample) return { program: undefined, args };
  const at = programs.has(name.value, 'prefix') ? args.findIndex(({ shape }) => !shape.startsWith('-')) : -1;
  return at === -1
    ? { program: programs.plainName(name.value), args }
    : stripPrefixes({ name: args[at], args: args.slice(at + 1) }, programs);
}
