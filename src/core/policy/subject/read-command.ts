import type { Assignment as AssignmentNode, Command, Redirection } from 'unbash';

import { isTerminalName, POLICY_LIMITS, type TypedLanguage, type TypingFacts, type TypingProgram } from '../model.js';
import { mayMatch, normalizePath } from '../paths.js';
import type { AnalysisContext } from '../words/analysis-context.js';
import {
  type Argument,
  type Assignment,
  literal,
  type Redirect,
  type SimpleCommand,
  type Stdin,
  toArguments,
  UNKNOWN,
  unknownArgument,
  type VariableLookup,
} from '../words/argument.js';

export function readCommand(
  node: Command,
  source: string,
  lookup: VariableLookup,
  stdin: Stdin | undefined,
): SimpleCommand {
  const words = node.name ? [...toArguments(node.name, lookup)] : [];
  for (const part of node.suffix) {
    if (part.type === 'Word') words.push(...toArguments(part, lookup));
    if (part.type === 'Assignment') words.push(toWord(part, lookup));
    if (words.length > POLICY_LIMITS.maxWords) break;
  }
  const [name, ...args] = words;
  const { redirects, stdin: given } = readRedirects(node.redirects, lookup);
  const isTooLong = words.length > POLICY_LIMITS.maxWords;
  return {
    name,
    args: isTooLong ? [...args, unknownArgument('…')] : args,
    assignments: node.prefix
      .slice(0, POLICY_LIMITS.maxWords)
      .flatMap((part) => (part.type === 'Assignment' ? [readAssignment(part, lookup, node.name !== undefined)] : [])),
    redirects,
    stdin: given ?? stdin,
    text: source.slice(node.pos, node.end),
  };
}

interface OpenedFiles {
  readonly redirects: readonly Redirect[];
  readonly stdin: Stdin | undefined;
}

/** Reads redirections; the last one of standard input counts. */
export function readRedirects(nodes: readonly Redirection[], lookup: VariableLookup): OpenedFiles {
  const redirects: Redirect[] = [];
  let stdin: Stdin | undefined;
  if (nodes.length > POLICY_LIMITS.maxRedirects)
    redirects.push({ operator: '>', target: unknownArgument('…'), text: '…' });
  for (const node of nodes.slice(0, POLICY_LIMITS.maxRedirects)) {
    const opened = readRedirect(node, lookup);
    redirects.push(...opened.redirects);
    if (isOfInput(node)) stdin = opened.stdin ?? stdin;
  }
  return { redirects, stdin };
}

/** Whether a redirection is one of standard input, if its operator reads. */
const isOfInput = ({ descriptor }: Redirection): boolean =>
  descriptor === undefined || (descriptor.type === 'FileDescriptor' && descriptor.value === 0);

function readRedirect(node: Redirection, lookup: VariableLookup): OpenedFiles {
  if (node.type === 'HereDoc') return { redirects: [], stdin: readHereDocument(node) };
  const [target, ...more] = node.target ? toArguments(node.target, lookup) : [];
  if (node.type === 'HereString') {
    const isCertain = target?.value !== undefined && !target.isSample;
    return { redirects: [], stdin: { kind: 'text', text: target?.value ?? '', isCertain } };
  }
  const { operator } = node;
  const text = node.target?.text ?? '';
  // Braces in a redirection are an error in bash and several files in zsh.
  return {
    redirects: [target, ...more].map((file) => ({ operator, target: file, text })),
    stdin: inputFrom(operator, target),
  };
}

function readHereDocument({ body, delimiter }: Extract<Redirection, { type: 'HereDoc' }>): Stdin {
  const { text, parts } = body;
  const isCertain = delimiter?.quoted === true || (!parts && !text.includes('\\'));
  return { kind: 'text', text, isCertain };
}

/** The input that an operator opens; undefined when it opens none. */
function inputFrom(operator: string, target: Argument | undefined): Stdin | undefined {
  if (operator === '<&') return { kind: 'unknown', what: 'another descriptor' };
  if ((operator !== '<' && operator !== '<>') || !target) return undefined;
  if (target.isProcess) return { kind: 'unknown', what: 'another command' };
  return isConnection(target) ? { kind: 'unknown', what: 'another machine' } : { kind: 'file', file: target };
}

/** Whether bash opens a network connection in place of a file of this name, as far as it is known. */
const isConnection = ({ shape, isGlob }: Argument): boolean => {
  if (!isGlob && !shape.includes(UNKNOWN)) return /^\/+dev\/+(?:tcp|udp)\//.test(shape);
  const [root, ...names] = normalizePath(shape.replaceAll(UNKNOWN, '*'), '/').split('/', 3);
  return (
    shape.startsWith('/') && root === '' && ['dev/tcp', 'dev/udp'].some((place) => mayMatch(names.join('/'), place))
  );
};

function readAssignment(node: AssignmentNode, lookup: VariableLookup, isPrefix: boolean): Assignment {
  const { name, value, text, append, index } = node;
  const [word] = value.type === 'Word' ? toArguments(value, lookup) : [];
  const isWhole = append !== true && index === undefined;
  return { name, value: isWhole ? word?.value : undefined, shape: isWhole ? word?.shape : undefined, text, isPrefix };
}

/** `NAME=value` after a program is an ordinary word. */
function toWord({ name, value, text, append, index }: AssignmentNode, lookup: VariableLookup): Argument {
  if (value.type !== 'Word' || index) return { ...unknownArgument(text), shape: `${name}=\0`, maySplit: false };
  const before = `${name}${append === true ? '+' : ''}=`;
  const argument = toArguments(value, lookup)[0] ?? literal('');
  return {
    ...argument,
    text,
    shape: before + argument.shape,
    value: argument.value === undefined ? undefined : before + argument.value,
    maySplit: false,
  };
}

/** The known output of a command; undefined when it is unknown, or when its name has another meaning here. */
export function outputOf(
  { name, args, stdin, redirects }: SimpleCommand,
  inquiry: AnalysisContext,
): string | undefined {
  if (redirects.length > 0 || name?.value === undefined) return undefined;
  if (inquiry.findAlias(name.value) !== undefined || inquiry.bodyOf(name.value, true) !== '') return undefined;
  return inquiry.programs.entryOf(name.value)?.prints?.(args, stdin);
}

export function knownValues(args: readonly Argument[]): readonly string[] | undefined {
  const known = args.flatMap(({ value, isGlob, isSample }) =>
    value === undefined || isGlob || isSample ? [] : [value],
  );
  return known.length < args.length ? undefined : known;
}

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

interface TypedLine {
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
