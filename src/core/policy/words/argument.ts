import type { Word, WordPart } from 'unbash';

import { type Directory, POLICY_LIMITS } from '../model.js';

/** Longest brace expression that is expanded, in characters. */
const MAX_LENGTH = 1024;

/** Syntax that only the shell itself can expand. */
const NEEDS_SHELL = /[$`"'\\<>()]/;
const NUMBERS = /^(-?\d{1,6})\.\.(-?\d{1,6})(?:\.\.(-?\d{1,6}))?$/;
const LETTERS = /^([A-Za-z])\.\.([A-Za-z])$/;

/** The words that `{…}` expands to; undefined when they are unknown or too many. */
function expandBraces(text: string): readonly string[] | undefined {
  const inner = text.slice(1, -1);
  if (inner.length > MAX_LENGTH || NEEDS_SHELL.test(inner)) return undefined;
  const sequence = expandSequence(inner);
  if (sequence) return sequence.length > POLICY_LIMITS.maxBraceWords ? undefined : sequence;
  const words: string[] = [];
  for (const alternative of splitAtCommas(inner)) {
    const expanded = expandNested(alternative);
    if (!expanded || words.length + expanded.length > POLICY_LIMITS.maxBraceWords) return undefined;
    words.push(...expanded);
  }
  return words;
}

function expandSequence(inner: string): readonly string[] | undefined {
  const letters = LETTERS.exec(inner);
  if (letters) {
    const codes = range(letters[1]?.charCodeAt(0) ?? 0, letters[2]?.charCodeAt(0) ?? 0, 1);
    return codes.map((code) => String.fromCharCode(code));
  }
  const numbers = NUMBERS.exec(inner);
  if (!numbers) return undefined;
  return range(Number(numbers[1]), Number(numbers[2]), Math.abs(Number(numbers[3] ?? 1)) || 1).map(String);
}

function range(from: number, to: number, step: number): number[] {
  const count = Math.min(Math.floor(Math.abs(to - from) / step) + 1, POLICY_LIMITS.maxBraceWords + 1);
  return Array.from({ length: count }, (_, index) => from + Math.sign(to - from) * step * index);
}

function splitAtCommas(inner: string): readonly string[] {
  const parts = [''];
  let level = 0;
  for (const character of inner) {
    if (character === '{') level += 1;
    if (character === '}') level -= 1;
    if (character === ',' && level === 0) parts.push('');
    else parts.push(`${parts.pop() ?? ''}${character}`);
  }
  return parts;
}

function expandNested(text: string): readonly string[] | undefined {
  const start = text.indexOf('{');
  if (start === -1) return [text];
  let level = 0;
  for (let end = start; end < text.length; end += 1) {
    if (text[end] === '{') level += 1;
    if (text[end] === '}') level -= 1;
    if (level > 0) continue;
    const middle = expandBraces(text.slice(start, end + 1));
    const tails = middle && expandNested(text.slice(end + 1));
    if (!tails || middle.length * tails.length > POLICY_LIMITS.maxBraceWords) return undefined;
    return middle.flatMap((word) => tails.map((tail) => text.slice(0, start) + word + tail));
  }
  return undefined;
}

/** Placeholder in a shape for text that is known only at run time. No text that is judged contains it. */
export const UNKNOWN = '\0';

/** A word of a command, as far as it is known before run time. */
export interface Argument {
  readonly text: string;
  /** The text without quotes and escapes; undefined when it is unknown before run time. A pattern stays a pattern. */
  readonly value: string | undefined;
  /** Like the value, with `UNKNOWN` in place of unknown parts. */
  readonly shape: string;
  /** It contains an unquoted pattern, so it may expand to several words. */
  readonly isGlob: boolean;
  /** It is not quoted, so it may expand to several words or to none. */
  readonly maySplit: boolean;
  /** It contains the output of a command. */
  readonly hasSubstitution: boolean;
  /** It is a pipe to or from another command. */
  readonly isProcess: boolean;
  /** A part of it is quoted or escaped, so that aliases do not apply. */
  readonly isQuoted: boolean;
  /** The value is one sample of several: valid as a file in its directory, but not as a program. */
  readonly isSample: boolean;
}

/** A value, and whether it is a sample of several. */
export interface KnownValue {
  readonly value: string;
  readonly isSample: boolean;
}

/** Returns what is known at the position of a word: variables by name, substitutions by text, such as `$(date)`. */
export type VariableLookup = (name: string) => KnownValue | undefined;

export const literal = (value: string, text = value): Argument => ({
  text,
  value,
  shape: value,
  isGlob: false,
  maySplit: false,
  hasSubstitution: false,
  isProcess: false,
  isQuoted: false,
  isSample: false,
});

export const unknownArgument = (text: string): Argument => ({
  ...literal(UNKNOWN, text),
  value: undefined,
  maySplit: true,
});

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

interface Draft {
  shape: string;
  isGlob: boolean;
  maySplit: boolean;
  hasSubstitution: boolean;
  isProcess: boolean;
  isSample: boolean;
}

/** Parameters that are always numbers: none of them leads to another file or is an option. */
export const NUMERIC_PARAMETERS: ReadonlySet<string> = new Set([
  ...['?', '$', '#', '!', 'PPID', 'UID', 'EUID', 'LINENO', 'RANDOM', 'SRANDOM', 'SECONDS', 'EPOCHSECONDS', 'BASHPID'],
]);

/** Bash expands a tilde at the start of a word, and after the first `=` of one like an assignment: `dd of=~/x`. */
const TILDE = /^((?:[A-Za-z_]\w*=)?)~/;

/** The part of a word before a tilde that is expanded; undefined when there is none. */
const beforeTilde = (text: string): string | undefined => (text.includes('~') ? TILDE.exec(text)?.[1] : undefined);

/** The arguments that a word expands to; braces give several. */
export function toArguments(word: Word, lookup: VariableLookup): readonly Argument[] {
  const { text, value, parts } = word;
  const tilde = beforeTilde(text);
  if (!parts && tilde === undefined) return [{ ...literal(value, text), isQuoted: text !== value }];
  let drafts: Draft[] = [emptyDraft()];
  for (const part of parts ?? []) {
    if (part.type !== 'BraceExpansion') {
      for (const draft of drafts) addPart(draft, part, lookup, false);
      continue;
    }
    const words = expandBraces(part.text);
    if (!words || words.length * drafts.length > POLICY_LIMITS.maxBraceWords) return [unknownArgument(text)];
    drafts = drafts.flatMap((draft) => words.map((added) => ({ ...draft, shape: draft.shape + added })));
  }
  if (!parts) drafts = [{ ...emptyDraft(), shape: value }];
  return drafts.map((draft) => {
    const shape = withHome(draft.shape, tilde, lookup);
    const isKnown = !shape.includes(UNKNOWN);
    return { ...draft, text, shape, value: isKnown ? shape : undefined, isQuoted: text !== value };
  });
}

/** Expands the tilde after a part of a word. */
const withHome = (shape: string, before: string | undefined, lookup: VariableLookup): string =>
  before === undefined ? shape : before + expandTilde(shape.slice(before.length), lookup);

const emptyDraft = (): Draft => ({
  shape: '',
  isGlob: false,
  maySplit: false,
  hasSubstitution: false,
  isProcess: false,
  isSample: false,
});

function addPart(draft: Draft, part: WordPart, lookup: VariableLookup, isQuoted: boolean): void {
  switch (part.type) {
    case 'DoubleQuoted':
    case 'LocaleString':
      for (const child of part.parts) addPart(draft, child, lookup, true);
      return;
    case 'CommandExpansion': {
      draft.hasSubstitution = true;
      const printed = lookup(part.text);
      if (!printed || (!isQuoted && /[\s*?[\]~]/.test(printed.value))) addUnknown(draft, isQuoted);
      else addKnown(draft, printed);
      return;
    }
    default:
      if (!addFixed(draft, part)) addVariable(draft, part, lookup, isQuoted);
  }
}

/** Adds a part whose text depends on no variable and no command; returns false when it is none. */
function addFixed(draft: Draft, part: WordPart): boolean {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      draft.shape += part.value;
      return true;
    case 'Glob':
    case 'ExtendedGlob':
      draft.shape += part.type === 'Glob' ? part.value : part.text;
      draft.isGlob = true;
      return true;
    case 'ArithmeticExpansion':
      draft.shape += '0';
      draft.isSample = true;
      return true;
    case 'ProcessSubstitution':
      draft.shape += '/dev/fd/63';
      draft.isProcess = true;
      return true;
    default:
      return false;
  }
}

function addVariable(draft: Draft, part: WordPart, lookup: VariableLookup, isQuoted: boolean): void {
  const name = variableOf(part);
  if (name !== undefined && NUMERIC_PARAMETERS.has(name)) {
    draft.shape += '0';
    draft.isSample = true;
    return;
  }
  const known = name === undefined ? shortened(part, lookup) : lookup(name);
  // An unquoted value with blanks or patterns expands to more than one word.
  if (!known || (!isQuoted && /[\s*?[\]~]/.test(known.value))) {
    addUnknown(draft, isQuoted && name !== '@');
    return;
  }
  addKnown(draft, known);
}

function addKnown(draft: Draft, { value, isSample }: KnownValue): void {
  draft.shape += value;
  draft.isSample ||= isSample;
}

function addUnknown(draft: Draft, isQuoted: boolean): void {
  draft.shape += UNKNOWN;
  draft.maySplit ||= !isQuoted;
}

/** The variable whose plain value an expansion gives. */
function variableOf(part: WordPart): string | undefined {
  if (part.type === 'SimpleExpansion') return part.text.slice(1);
  if (part.type !== 'ParameterExpansion') return undefined;
  if (part.prefix !== undefined || part.index !== undefined || part.operation !== undefined) return undefined;
  return part.parameter;
}

/** `${file%.txt}` of a file in a loop: still a plain name, although an unknown one. */
function shortened(part: WordPart, lookup: VariableLookup): KnownValue | undefined {
  if (part.type !== 'ParameterExpansion' || part.prefix !== undefined || part.index !== undefined) return undefined;
  if (part.operation?.type !== 'Remove') return undefined;
  const known = lookup(part.parameter);
  return known?.isSample === true && /^\w[\w.-]*$/.test(known.value) ? { value: 'x', isSample: true } : undefined;
}

/** Expands `~` and `~user` at the beginning of a word. */
function expandTilde(shape: string, lookup: VariableLookup): string {
  const [user = ''] = shape.slice(1).split('/', 1);
  const rest = shape.slice(1 + user.length);
  if (user === '') return (lookup('HOME')?.value ?? UNKNOWN) + rest;
  if (user === '+') return (lookup('PWD')?.value ?? UNKNOWN) + rest;
  if (!/^[a-z_][\w-]*$/.test(user)) return UNKNOWN + rest;
  return (user === 'root' ? '/root' : `/home/${user}`) + rest;
}

/** Whether a word contains an expansion or a pattern. One that is only quoted has its value in the text. */
export const hasExpansion = ({ parts }: Word): boolean => parts?.some(isExpansion) ?? false;

function isExpansion(part: WordPart): boolean {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return false;
    case 'DoubleQuoted':
      return part.parts.some(isExpansion);
    default:
      return true;
  }
}
