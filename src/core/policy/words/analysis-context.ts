import type { CommandClass } from '../model/classes.js';
import type { PolicyFacts } from '../model/facts.js';
import type { Scope, SimpleCommand } from './simple-command.js';
import type { WrittenFiles } from './written-files.js';

/** The analysis of one request: what judges of commands may ask of it. */
export interface AnalysisContext {
  readonly facts: PolicyFacts;
  /** Files that the text has written so far. */
  readonly written: WrittenFiles;
  /** Whether a limit was reached: nothing more is looked at. */
  readonly isExhausted: boolean;
  /** Judges text that a command has a shell read. */
  judgeText(text: string, scope: Scope): void;
  /** Judges a command that another one runs. */
  judgeCommand(command: SimpleCommand, scope: Scope): void;
  /** Takes note of something that belongs to no single command. */
  note(commandClass: CommandClass, reason: string): void;
  /** Takes note of what cannot be undone, and belongs to no single command. */
  noteCatastrophe(reason: string): void;
  /** The parser cannot read the text, or a part of it. */
  noteUnparsable(message: string): void;
  /** Counts a node of syntax; false when there are too many. */
  spendNode(): boolean;
  /** The text defines a function. */
  noteFunction(name: string, body: string): void;
  /** The text defines an alias; undefined when it cannot be told which, or as what. */
  noteAlias(name: string, text: string): void;
  /** What an alias of the session or the text stands for. */
  findAlias(name: string): string | undefined;
  /** The body of a function of the session; of one of the text, which is judged where it stands, only if it gets input. */
  findFunction(name: string, hasInput: boolean): string | undefined;
  /** From here on, names may mean something else in the session than before. */
  noteNamesChange(): void;
}
