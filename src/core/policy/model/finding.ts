import type { CommandClass } from './classes.js';
import type { TypedLanguage } from './typing.js';

/** Files in the workspace that a command destroys, and that a checkpoint can bring back. */
export interface Loss {
  /** Absolute, normalized; its last component may be a pattern. Everything below it counts. */
  readonly path: string;
  /** Whether directories of git below it stay as they are. */
  readonly sparesGit: boolean;
}

/** One effect of a command. */
export interface Finding {
  readonly class: CommandClass;
  /** For people and models: the effect and its target. */
  readonly reason: string;
  /** All that is destroyed, if a checkpoint can bring it back; undefined where none can. */
  readonly losses?: readonly Loss[];
  /** Irreparable: denied by every preset, even when rules allow it. */
  readonly isCatastrophe?: boolean;
  /**
   * Whether the finding stems from the program and its arguments, which a rule may allow. Redirections, variables, and
   * unreadable text do not belong to the program.
   */
  readonly isOfProgram: boolean;
}

/** A simple command, found at any depth, with its effects. */
export interface JudgedCommand {
  /** Source text, or without its wrappers. */
  readonly text: string;
  /** Base name of the program; undefined when it is unknown before run time, or when there is no program. */
  readonly program: string | undefined;
  /** The program as written: a bare name, or a path; its source text when that is known only at run time. */
  readonly calledAs: string | undefined;
  /** Arguments; undefined for one that is unknown before run time. */
  readonly args: readonly (string | undefined)[];
  /** Absolute paths in the command, as far as they are known. */
  readonly paths: readonly string[];
  /** It may access further paths. */
  readonly hasUnknownPaths: boolean;
  readonly findings: readonly Finding[];
  /** Absolute paths of the files whose content it runs, as far as they are known. */
  readonly scripts?: readonly string[];
  /** Directories from which it looks for a repository of git, whose settings then apply. */
  readonly repositories?: readonly string[];
  /** Its standard input is not the terminal. */
  readonly isFed?: boolean;
  /** How it executes typed input while it runs; undefined when it does not. */
  readonly typed?: TypedLanguage | undefined;
}
