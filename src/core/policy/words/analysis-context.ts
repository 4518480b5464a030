import type { CommandClass } from '../model/classes.js';
import type { JudgedCommand } from '../model/finding.js';
import type { AnalysisFacts } from '../paths/path-kinds.js';
import type { ProgramKnowledge } from './program-knowledge.js';
import type { Scope, SimpleCommand } from './simple-command.js';
import type { WrittenFiles } from './written-files.js';

/** Context of the analysis of one request, as used by the judges of commands. */
export interface AnalysisContext {
  readonly facts: AnalysisFacts;
  readonly programs: ProgramKnowledge;
  /** Files that the text has written so far. */
  readonly written: WrittenFiles;
  /** The commands that were judged so far. */
  readonly commands: readonly JudgedCommand[];
  /** Whether a limit was reached, so that the analysis stops. */
  readonly isExhausted: boolean;
  /** Judges text that a command passes to a shell. */
  judgeText(text: string, scope: Scope): void;
  /** Judges a command that another command runs. */
  judgeCommand(command: SimpleCommand, scope: Scope): void;
  /** Adds a finding that belongs to no single command. */
  note(commandClass: CommandClass, reason: string): void;
  /** Adds a finding about irreparable damage that belongs to no single command. */
  noteCatastrophe(reason: string): void;
  /** Records that the parser cannot read the text or a part of it. */
  noteUnparsable(message: string): void;
  /** Counts a syntax node; false when the limit is exceeded. */
  spendNode(): boolean;
  /** Records that the text defines a function. */
  noteFunction(name: string, body: string): void;
  /** Records that the text defines an alias; undefined when its name or text is unknown. */
  noteAlias(name: string, text: string): void;
  /** Text of an alias of the session or the text. */
  findAlias(name: string): string | undefined;
  /**
   * Body of a function of the session. A function of the text is judged at its definition, so it is only returned if it
   * gets input.
   */
  findFunction(name: string, hasInput: boolean): string | undefined;
  /** All bodies of a function of the session or of the text; empty when there is none. */
  bodyOf(name: string): string;
  /** Records that names may have another meaning in the session from here on. */
  noteNamesChange(): void;
}
