import { type Directory, POLICY_LIMITS } from '../model.js';
import type { Argument, VariableLookup } from './argument.js';

/** Files whose names a command prints, as far as they are known: those below directories. */
export interface ListedBelow {
  readonly places: readonly Argument[];
  /** Patterns of their names; none for all. */
  readonly patterns: readonly string[];
}

/** Input that is unknown before run time: mostly the output of another command. */
export interface UnknownInput {
  readonly kind: 'unknown';
  readonly what: string;
  /** Samples of the file names in it, if it consists of file names. */
  readonly names?: readonly Argument[] | undefined;
  /** Directories below which the files are that it names, and patterns of their names. */
  readonly below?: ListedBelow | undefined;
  /** The client itself sends it: it is no data of this machine. */
  readonly isOfClient?: true;
}

/** Standard input of a command, when it is neither the terminal nor empty. */
export type Stdin =
  /** `isCertain` when no part of it is substituted at run time. */
  | { readonly kind: 'text'; readonly text: string; readonly isCertain: boolean }
  | { readonly kind: 'file'; readonly file: Argument }
  | UnknownInput;

export interface Assignment {
  readonly name: string;
  /** Undefined for a list or an unknown value. */
  readonly value: string | undefined;
  /** The value with a mark in place of each unknown part; undefined for a list. */
  readonly shape?: string | undefined;
  readonly text: string;
  /** It applies to one command only. */
  readonly isPrefix: boolean;
}

export interface Redirect {
  readonly operator: string;
  readonly target: Argument | undefined;
  readonly text: string;
}

/** A simple command: a program with its arguments, or only assignments and redirections. */
export interface SimpleCommand {
  readonly name: Argument | undefined;
  readonly args: readonly Argument[];
  readonly assignments: readonly Assignment[];
  readonly redirects: readonly Redirect[];
  readonly stdin: Stdin | undefined;
  readonly text: string;
}

export interface Scope {
  /** Number of enclosing shell texts: see `POLICY_LIMITS.maxDepth`. */
  readonly depth: number;
  /** Number of enclosing substitutions: see `POLICY_LIMITS.maxNesting`. */
  readonly nesting: number;
  readonly directories: readonly Directory[];
  readonly stdin: Stdin | undefined;
  readonly lookup: VariableLookup;
  /** Aliases that are being expanded: an alias is not expanded within itself. */
  readonly expanding: readonly string[];
}

/** A text, shortened for use in reasons. */
export function shorten(text: string): string {
  const { maxShownText } = POLICY_LIMITS;
  const onOneLine = text.replace(/\s+/g, ' ').trim();
  return onOneLine.length > maxShownText ? `${onOneLine.slice(0, maxShownText)}…` : onOneLine;
}
