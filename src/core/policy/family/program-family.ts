import type { CommandClass } from '../model/classes.js';
import type { TypingTable } from '../model/typing.js';
import type { PathPatterns } from '../paths/path-tables.js';
import type { ProgramTable } from '../subject/program-spec.js';
import type {
  DirectoryChange,
  KnownOutput,
  ListedNames,
  ListedPlaces,
  PlainSubstitution,
  ProgramTrait,
  VariableRule,
} from '../words/program-knowledge.js';
import type { ShowingTable } from './showing-patterns.js';
import type { WrapperTable } from './wrapper-spec.js';

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
