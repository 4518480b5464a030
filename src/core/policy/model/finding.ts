import type { CommandClass } from './classes.js';
import type { TypedLanguage } from './typing-programs.js';

/** One thing that a command does. */
export interface Finding {
  readonly class: CommandClass;
  /** For people and models: what it does, and to what. */
  readonly reason: string;
  /** Beyond repair: denied by every preset, whatever the rules allow. */
  readonly isCatastrophe?: boolean;
  /**
   * Whether it comes from the program and its arguments, which a rule may allow. Redirections, variables, and what cannot
   * be read are not the program's doing.
   */
  readonly isOfProgram: boolean;
}

/** A simple command, found at any depth, with what it does. */
export interface JudgedCommand {
  /** As it is written, or with its wrappers taken off. */
  readonly text: string;
  /** Base name of the program; undefined when it is not known before it runs, or there is none. */
  readonly program: string | undefined;
  /** The program as it is called: a bare name, or a path. */
  readonly calledAs: string | undefined;
  /** Arguments; undefined for one that is not known before it runs. */
  readonly args: readonly (string | undefined)[];
  /** Absolute paths that it names, as far as they are known. */
  readonly paths: readonly string[];
  /** It may name further paths. */
  readonly hasUnknownPaths: boolean;
  readonly findings: readonly Finding[];
  /** Its standard input is something else than the terminal. */
  readonly isFed?: boolean;
  /** How it executes what is typed while it runs; undefined when it does not. */
  readonly typed?: TypedLanguage | undefined;
}
