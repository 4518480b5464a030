import type { Effect } from '../effects.js';
import type { CommandClass, Directory, Finding, JudgedCommand, PolicyFacts } from '../model.js';
import type { AnalysisFacts } from '../path-kinds.js';
import { baseName, normalizePath } from '../paths.js';
import { type Argument, type Scope, type SimpleCommand, UNKNOWN } from './argument.js';
import type { ProgramCatalog } from '../program-catalog.js';
import type { WrittenFiles } from './written-files.js';

/** Context of the analysis of one request, as used by the judges of commands. */
export interface AnalysisContext {
  readonly facts: AnalysisFacts;
  readonly programs: ProgramCatalog;
  readonly written: WrittenFiles;
  readonly commands: readonly JudgedCommand[];
  /** Whether a limit was reached, so that the analysis stops. */
  readonly isExhausted: boolean;
  judgeText(text: string, scope: Scope): void;
  judgeCommand(command: SimpleCommand, scope: Scope): void;
  /** Adds a finding that belongs to no single command; `it` is what has the effect, if that has a name. */
  note(effect: Effect, what?: string, it?: string): void;
  noteFinding(finding: Finding): void;
  /** Records that the parser cannot read the text or a part of it. */
  noteUnparsable(message: string): void;
  /** Counts a syntax node; false when the limit is exceeded. */
  spendNode(): boolean;
  noteFunction(name: string, body: string): void;
  /** Records that the text defines an alias; undefined when its name or text is unknown. */
  noteAlias(name: string, text: string): void;
  findAlias(name: string): string | undefined;
  /**
   * All bodies of a function of the session, and with `ofText` those that the text defines; empty when there is none. A
   * function of the text is judged at its definition.
   */
  bodyOf(name: string, ofText: boolean): string;
  /** Records that names may have another meaning in the session from here on. */
  noteNamesChange(): void;
}

const NO_EFFECT: Finding = { class: 'read', reason: '', isOfProgram: true };

/** The findings about one command, each reason once. */
export class Findings {
  readonly #all: Finding[] = [];
  readonly #reasons = new Set<string>();

  /** The findings; one without a reason when there is none. */
  get all(): readonly Finding[] {
    return this.#all.length > 0 ? this.#all : [NO_EFFECT];
  }

  add(finding: Finding): void {
    if (this.#reasons.has(finding.reason)) return;
    this.#reasons.add(finding.reason);
    this.#all.push(finding);
  }

  has(commandClass: CommandClass): boolean {
    return this.#all.some((finding) => finding.class === commandClass);
  }
}

/** Most directories that are tracked; if more are possible, the directory counts as unknown. */
const MAX_DIRECTORIES = 8;

/** The union of the directories of two alternatives. */
export function eitherOf(a: readonly Directory[], b: readonly Directory[]): readonly Directory[] {
  const all = [...new Set([...a, ...b])];
  return all.length > MAX_DIRECTORIES ? [undefined] : all;
}

/** The possible directories after a command has succeeded; undefined when it changes none. */
export function directoriesAfter(
  { program, args }: { readonly program: string | undefined; readonly args: readonly Argument[] },
  directories: readonly Directory[],
  { home }: PolicyFacts,
  programs: ProgramCatalog,
): readonly Directory[] | undefined {
  if (program === undefined) return args.length > 0 ? [undefined] : undefined;
  return programs.entryOf(program)?.enters?.(args, directories, home);
}

/** A partly unknown path, as a pattern; undefined when too little of it is known. */
export function patternOf(shape: string): string | undefined {
  const pattern = shape.replaceAll(UNKNOWN, '*');
  if (shape.startsWith('/')) return normalizePath(pattern, '/');
  const isNamed = shape.startsWith(`${UNKNOWN}/`) && !baseName(pattern).includes('*') && baseName(pattern) !== '';
  // The unknown part may be a home directory, or one in it.
  return isNamed
    ? normalizePath(pattern.replace(/^\*\/(?:\.\.\/)*/, '~/'), '/').replace('/~/', '/home/any/')
    : undefined;
}
