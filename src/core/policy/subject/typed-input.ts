import type { TypingFacts } from '../model/facts.js';
import type { Stdin } from '../words/simple-command.js';
import { isTerminalName, type TypedLanguage, typingOf } from '../model/typing-programs.js';

/** A program as it is called, as far as that is known. */
interface ProgramCall {
  /** Plain name of the program. */
  readonly program: string;
  /** Arguments without the program's own name; undefined for one that is not known before it runs. */
  readonly args: readonly (string | undefined)[];
  /** Where its standard input comes from; undefined for the terminal, or for nothing where there is none. */
  readonly stdin?: Stdin | undefined;
}

/** Stands for an argument that is not known: some file. */
const UNKNOWN_ARGUMENT = '?';

/**
 * How a program executes what is typed while it runs.
 * @returns undefined when it takes no typed input, or only as data
 */
export function typedLanguage({ program, args, stdin }: ProgramCall, typing: TypingFacts): TypedLanguage | undefined {
  const known = typingOf(program);
  if (!known) return undefined;
  const isInputTyped = typing.input && isTerminal(stdin);
  const isReached = { input: isInputTyped, terminal: isInputTyped || typing.screen, screen: typing.screen }[
    known.reads
  ];
  if (!isReached || !known.takes(args.map((arg) => arg ?? UNKNOWN_ARGUMENT))) return undefined;
  return known.language;
}

const isTerminal = (stdin: Stdin | undefined): boolean =>
  stdin === undefined || (stdin.kind === 'file' && isTerminalName(stdin.file.shape));

/** Longest unfinished line that is remembered, in characters: more of it makes no better command. */
const MAX_LINE = 8192;

/** Keys that execute nothing by themselves: Ctrl-C, Ctrl-D, Ctrl-Z, Ctrl-\\, and line ends. */
// eslint-disable-next-line no-control-regex -- control characters are keys
const HARMLESS_KEYS = /^[\x03\x04\x1a\x1c\r\n]*$/;

/** Whether only keys are typed that execute nothing by themselves. */
export const isHarmlessTyping = (text: string): boolean => HARMLESS_KEYS.test(text);

/** A line that is being typed: the text since the last line end. */
export interface TypedLine {
  /** Lines that are finished now, each with its end; empty when none is. */
  readonly finished: string;
  /** The beginning of the next line. */
  readonly rest: string;
}

/** What ends a line at a shell: Enter, Ctrl-D (which hands over what stands in the line), Ctrl-O of readline. */
// eslint-disable-next-line no-control-regex -- control characters are keys
const LINE_END = /[\r\n\x04\x0f]/g;

/** Keys that only signal the program in the foreground: Ctrl-Z and Ctrl-\. */
// eslint-disable-next-line no-control-regex -- control characters are keys
const SIGNAL_KEYS = /[\x1a\x1c]/g;

/**
 * Adds typed text to the line that it continues.
 * @param isEnd whether the end of input is signalled behind it, which hands over what stands in the line
 */
export function continueLine(line: string, typed: string, isEnd = false): TypedLine {
  const text = (line + typed).replace(SIGNAL_KEYS, '');
  // Ctrl-C discards the line.
  const from = text.lastIndexOf('\x03') + 1;
  const current = text.slice(from);
  const ends = [...current.matchAll(LINE_END)];
  const finishedLength = isEnd ? current.length : (ends.at(-1)?.index ?? -1) + 1;
  // What was typed before Ctrl-C in the same text may have been executed before it.
  const earlier = text.slice(0, from).search(LINE_END) === -1 ? '' : text.slice(0, from);
  const finished = earlier + current.slice(0, finishedLength);
  return {
    finished: finished.replace(LINE_END, '\n').replaceAll('\x03', '\n'),
    rest: current.slice(finishedLength).slice(-MAX_LINE),
  };
}

/** Any other key than a printable character: it edits the line in ways that only the program knows. */
// eslint-disable-next-line no-control-regex -- control characters are keys
const EDITING_KEY = /[\x00-\x09\x0b-\x1f\x7f]/;

/** Whether a line has keys in it that are no text: what it becomes is not known. */
export const hasEditingKeys = (line: string): boolean => EDITING_KEY.test(line);
