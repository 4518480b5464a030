import type { Argument, VariableLookup } from './argument.js';
import type { Directory } from '../model/facts.js';

/** What a command reads on its standard input, when it is not the terminal or nothing. */
export type Stdin =
  /** `isCertain` when nothing in it is filled in when it runs. */
  | { readonly kind: 'text'; readonly text: string; readonly isCertain: boolean }
  | { readonly kind: 'file'; readonly file: Argument }
  /**
   * What is not known before it runs: mostly the output of another command; `names` stand for those of files, where it is such.
   * `isOfClient` when the client itself sends it: it is no data of this machine.
   */
  | {
      readonly kind: 'unknown';
      readonly what: string;
      readonly names?: readonly Argument[] | undefined;
      readonly isOfClient?: true;
    };

/** A variable that is set. */
export interface Assignment {
  readonly name: string;
  /** Undefined for a list, or what is not known. */
  readonly value: string | undefined;
  /** As it is written, name included. */
  readonly text: string;
  /** It holds for one command alone. */
  readonly isPrefix: boolean;
}

/** A redirection to or from a file. */
export interface Redirect {
  readonly operator: string;
  readonly target: Argument | undefined;
  readonly text: string;
}

/** A simple command: a program with its arguments, or assignments and redirections alone. */
export interface SimpleCommand {
  readonly name: Argument | undefined;
  readonly args: readonly Argument[];
  readonly assignments: readonly Assignment[];
  readonly redirects: readonly Redirect[];
  readonly stdin: Stdin | undefined;
  /** As it is written. */
  readonly text: string;
}

/** Where in a request a command stands. */
export interface Scope {
  /** Shell texts around it: see `POLICY_LIMITS.maxDepth`. */
  readonly depth: number;
  /** Substitutions around it: see `POLICY_LIMITS.maxNesting`. */
  readonly nesting: number;
  readonly directories: readonly Directory[];
  /** Standard input of what reads from around it. */
  readonly stdin: Stdin | undefined;
  readonly lookup: VariableLookup;
  /** Aliases that are being expanded: none stands for itself. */
  readonly expanding: readonly string[];
}
