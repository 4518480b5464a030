import type { TypingFacts } from '../model/facts.js';
import type { Stdin } from '../words/simple-command.js';
import { isTerminalName, type TypedLanguage, type TypingProgram } from '../model/typing.js';

/** A call of a program, as far as it is known. */
interface ProgramCall {
  /** Arguments without the program's name; the value of one that is unknown before run time is undefined. */
  readonly args: readonly { readonly value: string | undefined }[];
  /** Source of its standard input; undefined for the terminal, or for none. */
  readonly stdin?: Stdin | undefined;
}

/** Placeholder for an unknown argument: some file. */
const UNKNOWN_ARGUMENT = '?';

/**
 * How a program executes typed input while it runs.
 * @returns undefined when it takes no typed input, or treats it only as data
 */
export function typedLanguage(
  known: TypingProgram,
  { args, stdin }: ProgramCall,
  typing: TypingFacts,
): TypedLanguage | undefined {
  const isInputTyped = typing.input && isTerminal(stdin);
  const isReached = { input: isInputTyped, terminal: isInputTyped || typing.screen, screen: typing.screen }[
    known.reads
  ];
  if (!isReached || !known.takes(args.map(({ value }) => value ?? UNKNOWN_ARGUMENT))) return undefined;
  return known.language;
}

const isTerminal = (stdin: Stdin | undefined): boolean =>
  stdin === undefined || (stdin.kind === 'file' && isTerminalName(stdin.file.shape));

/** Longest unfinished line that is kept, in characters: a longer line makes no better command. */
const MAX_LINE = 8192;

/** Keys that execute nothing on their own: Ctrl-C, Ctrl-D, Ctrl-Z, Ctrl-\\, and line ends. */
// oxlint-disable-next-line no-control-regex -- control characters are keys
const HARMLESS_KEYS = /^[\x03\x04\x1a\x1c\r\n]*$/;

/** Whether the input only consists of keys that execute nothing on their own. */
export const isHarmlessTyping = (text: string): boolean => HARMLESS_KEYS.test(text);

/** A line being typed: the text since the last line end. */
export interface TypedLine {
  /** The lines that are now complete, each with its end; empty when none is. */
  readonly finished: string;
  /** The beginning of the next line. */
  readonly rest: string;
}

/** Keys that end a line at a shell: Enter, Ctrl-D (which submits the current line), Ctrl-O of readline. */
// oxlint-disable-next-line no-control-regex -- control characters are keys
const LINE_END = /[\r\n\x04\x0f]/g;

/** Keys that only signal the program in the foreground: Ctrl-Z and Ctrl-\. */
// oxlint-disable-next-line no-control-regex -- control characters are keys
const SIGNAL_KEYS = /[\x1a\x1c]/g;

/**
 * Appends typed text to the line that it continues.
 * @param isEnd whether an end of input (EOF) follows, which submits the current line
 */
export function continueLine(line: string, typed: string, isEnd = false): TypedLine {
  const text = (line + typed).replace(SIGNAL_KEYS, '');
  // Ctrl-C discards the line.
  const from = text.lastIndexOf('\x03') + 1;
  const current = text.slice(from);
  const ends = [...current.matchAll(LINE_END)];
  const lastEnd = ends.findLast(({ index }) => !isContinued(current.slice(0, index)))?.index ?? -1;
  const finishedLength = isEnd ? current.length : lastEnd + 1;
  // Input before Ctrl-C in the same text may have been executed before it.
  const earlier = text.slice(0, from).search(LINE_END) === -1 ? '' : text.slice(0, from);
  const finished = earlier + current.slice(0, finishedLength);
  return {
    finished: finished.replace(LINE_END, '\n').replaceAll('\x03', '\n'),
    rest: current.slice(finishedLength).slice(-MAX_LINE),
  };
}

/** Whether a shell reads a line together with the next one: it ends in a backslash that nothing quotes. */
const isContinued = (line: string): boolean => (/\\*$/.exec(line)?.[0].length ?? 0) % 2 === 1;

/** Any key other than a printable character: it edits the line in ways that only the program knows. */
// oxlint-disable-next-line no-control-regex -- control characters are keys
const EDITING_KEY = /[\x00-\x09\x0b-\x1f\x7f]/;

/** Whether a line contains editing keys, so that the resulting text is unknown. */
export const hasEditingKeys = (line: string): boolean => EDITING_KEY.test(line);
