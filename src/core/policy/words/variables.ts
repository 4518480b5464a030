import {
  type ArithmeticExpression,
  type Command,
  parse,
  type ParsedScript,
  type SyntaxNode,
  type Word,
  type WordPart,
} from 'unbash';

import type { Directory } from '../model.js';
import { type AnalysisFacts, isSecret, kindOf } from '../path-kinds.js';
import { type Assigned, AssignedVariables, IDENTIFIER, isLiteral } from './assigned-variables.js';
import { type KnownValue, NUMERIC_PARAMETERS, toArguments, type VariableLookup } from './argument.js';
import type { AnalysisContext } from './analysis-context.js';
import { isOwnName } from './saved-state.js';

/** Sample name of a file or directory made by `mktemp`; the real name differs each time. */
export const TEMPORARY = '/tmp/tmp.XXXXXXXXXX';

/** Programs that print one number and nothing else, by the text of their arguments. */
const NUMBER_PRINTERS: Readonly<Record<string, RegExp>> = {
  wc: /^(?:-[clmw]|--(?:bytes|lines|chars|words))$/,
  nproc: /^(?:--all)?$/,
  date: /^(?:-u )?["']?\+(?:%[sYmdHMSNjuwyV])+["']?$/,
  id: /^-[ugr]+$/,
  getconf: /^\w+$/,
  tput: /^(?:cols|lines|colors)$/,
  stat: /^(?:-L )?(?:-c|--format=?) ?["']?%[sYXZahiu]["']? /,
  git: /^rev-list --count \S+$/,
  grep: /^(?:-[a-zA-Z]*c[a-zA-Z]*|--count)(?: -\S+)* (?:"[^"]*"|'[^']*'|[^\s'"]+)(?: [^\s-]\S*)?$/,
  pgrep: /^(?:-\w+ )*-\w*c\w* \S+$/,
  seq: /^\d+(?: \d+){0,2}$/,
};

/** Programs whose first column is a number. */
const NUMBER_COLUMNS: Readonly<Record<string, RegExp>> = {
  wc: /^-[clmw]\b/,
  du: /^(?:-[skbma]+|--[a-z-]+)(?: |$)/,
  cksum: /./,
};

/** Filters that leave the first column. */
const FIRST_COLUMN: Readonly<Record<string, RegExp>> = {
  cut: /^(?:-d ?["']? ["']? )?-f ?1$/,
  awk: /^'\{ ?print \$1;? ?\}'$/,
};

interface Call {
  readonly name: string;
  readonly args: string;
}

/**
 * Whether a substitution certainly prints numbers.
 * @param isOwn whether a program may be an alias or a function here
 */
function printsNumbers(script: ParsedScript | undefined, isOwn: (name: string) => boolean): boolean {
  const parts = pipelineOf(script);
  const last = callOf(parts.at(-1), isOwn);
  if (!last) return false;
  if (isListed(NUMBER_PRINTERS, last)) return true;
  const before = callOf(parts.at(-2), isOwn);
  return before !== undefined && isListed(FIRST_COLUMN, last) && isListed(NUMBER_COLUMNS, before);
}

const isListed = (table: Readonly<Record<string, RegExp>>, { name, args }: Call): boolean =>
  table[name]?.test(args) === true;

/** The commands of a script that is one pipeline; none for others. */
function pipelineOf(script: ParsedScript | undefined): readonly SyntaxNode[] {
  const [statement, ...others] = script?.commands ?? [];
  if (!statement || others.length > 0 || statement.background === true) return [];
  const { command } = statement;
  return command.type === 'Pipeline' ? command.commands : [command];
}

/** Name and arguments of a simple command without assignments; its redirections only choose what is read. */
function callOf(node: SyntaxNode | undefined, isOwn: (name: string) => boolean): Call | undefined {
  if (node?.type !== 'Command') return undefined;
  const { name, prefix, suffix } = node;
  if (!name || name.parts || isOwn(name.value)) return undefined;
  if (prefix.some(({ type }) => type === 'Assignment')) return undefined;
  const words = suffix.flatMap((part) => (part.type === 'Word' ? [part.text] : []));
  return { name: name.value, args: words.join(' ') };
}

/** Longest substitution whose command is looked at, in characters. */
const MAX_LENGTH = 256;

/** The output of a substitution, or a sample of it; undefined when it is unknown. */
function outputOfSubstitution(text: string, inquiry: AnalysisContext, lookup: VariableLookup): KnownValue | undefined {
  const value = printedBy(text, inquiry) ?? echoedBy(text, inquiry, lookup);
  return value === undefined ? undefined : { value, isSample: true };
}

/** A sample of the one plain word that some commands always print. */
function printedBy(text: string, inquiry: AnalysisContext): string | undefined {
  const [program = ''] = /^\w+/.exec(text.slice(2)) ?? [];
  return isOwnName(program, inquiry) ? undefined : inquiry.programs.printedBy(text);
}

/** The output of one command that follows from its words, such as `echo ~/x`. */
function echoedBy(text: string, inquiry: AnalysisContext, lookup: VariableLookup): string | undefined {
  const command = text.length > MAX_LENGTH ? undefined : commandOf(text);
  const name = command?.name;
  if (!name || name.parts || isOwnName(name.value, inquiry) || !command.suffix.every(({ type }) => type === 'Word'))
    return undefined;
  const args = command.suffix.flatMap((word) => (word.type === 'Word' ? toArguments(word, lookup) : []));
  return inquiry.programs.entryOf(name.value)?.prints?.(args, undefined)?.replace(/\n+$/, '');
}

function commandOf(text: string): Command | undefined {
  const [statement, ...others] = parse(text.replace(/^(?:\$\(|`)|[)`]$/g, '')).commands;
  const command = statement?.command;
  return command?.type === 'Command' && others.length === 0 && command.prefix.length === 0 ? command : undefined;
}

/** Rounds in which variables that depend on each other are found out; beyond it, none counts as a number. */
const MAX_ROUNDS = 8;
/** Depth of an expression beyond which it counts as unknown. */
const MAX_DEPTH = 100;
/** Longest chain of variables that refer to variables; beyond it, the value counts as unknown. */
const MAX_CHAIN = 9;
/** Longest value that is composed of others, in characters. */
const MAX_VALUE_LENGTH = 1024;

const NUMBER = /^(?:0[xX][\da-fA-F]+|\d+#[\da-zA-Z@_]+|\d*)$/;

type ArithmeticWord = Extract<ArithmeticExpression, { type: 'ArithmeticWord' }>;

/** How a part of a word is read: as a value, or as arithmetic, in which names and operators may occur. */
type Reading = 'value' | 'expression';

/** A position of a text, where variables are looked up. */
interface LookupPlace {
  readonly position: number;
  /** Possible current directories there. */
  readonly directories: readonly Directory[];
  /** Number of variables whose values led to this lookup. @default 0 */
  readonly depth?: number;
}

/**
 * What the variables of a text may be at each position of it: a known text, one of several texts, a number, or unknown.
 *
 * A text is known where the text has assigned the variable before the position, and nowhere else; or where it iterates
 * over plain words. A variable is a number where the text has assigned it before, and if every assignment anywhere in the
 * text is of a number. That matters to arithmetic, which evaluates a value as an expression that may run commands, as in
 * `a[$(reboot)]`. Source: bash(1), ARITHMETIC EVALUATION.
 */
export class Variables {
  readonly #assigned: AssignedVariables;
  readonly #inquiry: AnalysisContext;
  readonly #values = new Map<Assigned, KnownValue | undefined>();
  /** Variables that may have other values than numbers; undefined until that is asked. */
  #others: Set<string> | undefined;
  /** Position of the expression that is judged, where it was parsed on its own. */
  #place: number | undefined;

  constructor(script: ParsedScript, inquiry: AnalysisContext) {
    this.#inquiry = inquiry;
    this.#assigned = new AssignedVariables(script, inquiry);
  }

  readonly #isOwnName = (name: string): boolean => this.#assigned.functions.has(name) || isOwnName(name, this.#inquiry);

  /**
   * Returns the lookup of known variables and substitutions at a position of the text.
   *
   * @param outer lookup of the names that the text does not define
   */
  lookupAt({ position, directories, depth = 0 }: LookupPlace, outer: VariableLookup): VariableLookup {
    const directory = directories.length === 1 ? directories[0] : undefined;
    const lookup: VariableLookup = (name) => {
      if (/^(?:\$\(|`)/.test(name)) return outputOfSubstitution(name, this.#inquiry, lookup);
      if (this.#assigned.isAnySet) return undefined;
      if (this.#assigned.get(name)) return this.#textOf(name, position, outer, depth);
      if (name !== 'PWD') return outer(name);
      return directory === undefined ? undefined : { value: directory, isSample: false };
    };
    return lookup;
  }

  /** The text of a variable that is assigned once, or a sample of it. */
  #textOf(name: string, position: number, outer: VariableLookup, depth: number): KnownValue | undefined {
    const { assigned = [], isForeign = false } = this.#assigned.get(name) ?? {};
    const [first, ...others] = assigned;
    if (!first || isForeign) return undefined;
    if (others.length > 0 || first.kind === 'number') return this.#sampleOfNumber(name, assigned, position);
    if (!this.#isCertainAt(first, position)) return undefined;
    if (!this.#values.has(first)) {
      if (depth > MAX_CHAIN) return undefined;
      this.#values.set(first, this.#valueOf(first, outer, depth));
    }
    return this.#values.get(first);
  }

  #isCertainAt({ kind, from, to }: Assigned, position: number): boolean {
    return from <= position && position < to && !(kind === 'local' && this.#assigned.hasLateCode);
  }

  /** A sample of a variable to which only digits are assigned: neither empty nor with blanks. */
  #sampleOfNumber(name: string, assigned: readonly Assigned[], position: number): KnownValue | undefined {
    const isPlain = assigned.every(
      ({ kind, words }) => kind === 'number' || (words.length > 0 && words.every(isDigits)),
    );
    return isPlain && this.#isNumber(name, position) ? { value: '0', isSample: true } : undefined;
  }

  /** Computes a value from those known where it was assigned. The directory at that place is not taken into account. */
  #valueOf({ words, kind }: Assigned, outer: VariableLookup, depth: number): KnownValue | undefined {
    const sample = kind === 'choice' ? sampleOf(words, this.#inquiry) : undefined;
    const [word, ...others] = words;
    if (sample || !word || others.length > 0) return sample;
    const isWhole = kind === 'value' || kind === 'local';
    const known = isWhole && isLiteral(word) ? { value: word.value, isSample: false } : undefined;
    const isExpanded = kind === 'choice' ? isSubstitution(word) : isWhole && !/[:=]~/.test(word.text);
    if (known || !isExpanded) return known;
    const place = { position: word.pos, directories: [undefined], depth: depth + 1 };
    return expand(word, this.lookupAt(place, outer), kind === 'choice');
  }

  /** Whether keys of an array are plain text in this text. */
  isAssociative(name: string): boolean {
    return this.#assigned.associative.has(name);
  }

  /** Whether the text gives a variable the attribute of integers. */
  isInteger(name: string): boolean {
    return this.#assigned.integers.has(name);
  }

  /** Returns the first operand of an expression that may be other than a number; undefined when all are numbers. */
  unknownOperand(node: ArithmeticExpression, depth = 0): string | undefined {
    if (depth > MAX_DEPTH) return 'a long expression';
    if (node.type === 'ArithmeticWord') return this.#unknownOfWord(node);
    if (node.type === 'ArithmeticCommandExpansion')
      return printsNumbers(node.script, this.#isOwnName) ? undefined : node.text;
    for (const operand of operandsOf(node)) {
      const unknown = this.unknownOperand(operand, depth + 1);
      if (unknown !== undefined) return unknown;
    }
    return undefined;
  }

  /** As `unknownOperand`, for a word that is evaluated: a subscript, or an operand of `[[ … -eq … ]]`. */
  unknownPart({ value, text, parts, pos }: Word): string | undefined {
    if (parts) return this.#areNumeric(parts, pos, 'expression') ? undefined : text;
    return this.#areNumbers(value, pos) ? undefined : text;
  }

  /** Whether the text of an expression, quotes and expansions included, has operands that may be other than numbers. */
  isUnknownText(text: string, position: number): boolean {
    const names = text.replaceAll(/["']/g, '').replaceAll(/\$\{?(\w+)\}?/g, '$1');
    return !this.#areNumbers(names, position);
  }

  /** As `unknownOperand`, for an argument of `let`; undefined also for one that is no expression. */
  unknownOfLet({ value, pos }: Word): string | undefined {
    const [statement] = parse(`((${value}))`).commands;
    if (statement?.command.type !== 'ArithmeticCommand' || !statement.command.expression) return undefined;
    this.#place = pos;
    const unknown = this.unknownOperand(statement.command.expression);
    this.#place = undefined;
    return unknown;
  }

  /** Whether a word certainly expands to a number, or to several. */
  #isNumeric({ value, parts, pos }: Word): boolean {
    return parts ? this.#areNumeric(parts, pos, 'value') : /^-?\d*$/.test(value);
  }

  #isNumber(name: string, at: number): boolean {
    if (this.#notNumeric.has(name)) return false;
    if (NUMERIC_PARAMETERS.has(name)) return true;
    if (this.#assigned.isAnySet || this.#assigned.callsUnknown) return false;
    const position = this.#place ?? at;
    return this.#assigned.get(name)?.assigned.some((each) => this.#isCertainAt(each, position)) === true;
  }

  #unknownOfWord({ value, parts, pos }: ArithmeticWord): string | undefined {
    if (parts) return this.#areNumeric(parts, pos, 'expression') ? undefined : value;
    return NUMBER.test(value) || this.#areNumbers(value, pos) ? undefined : value;
  }

  /** Whether all names in the text of an expression are numbers. Parameters such as `$1` are none. */
  #areNumbers(text: string, position: number): boolean {
    const names = namesIn(text.replaceAll(/\$[?$#!]/g, ''));
    return names !== undefined && names.every((name) => this.#isNumber(name, position));
  }

  #areNumeric(parts: readonly WordPart[], position: number, reading: Reading): boolean {
    return parts.every((part) => this.#isNumericPart(part, position, reading));
  }

  #isNumericPart(part: WordPart, position: number, reading: Reading): boolean {
    switch (part.type) {
      case 'Literal':
      case 'SingleQuoted':
        if (reading === 'value') return /^-?\d*$/.test(part.value);
        return this.#areNumbers(part.value, position);
      case 'DoubleQuoted':
        return this.#areNumeric(part.parts, position, reading);
      case 'SimpleExpansion':
        return this.#isNumber(part.text.slice(1), position);
      case 'ParameterExpansion':
        return this.#isNumericParameter(part, position);
      case 'CommandExpansion':
        return printsNumbers(part.script, this.#isOwnName);
      case 'BraceExpansion':
        return NUMBERS.test(part.text);
      default:
        return part.type === 'ArithmeticExpansion';
    }
  }

  /** A length, or a number with at most a number as its default. */
  #isNumericParameter(
    { prefix, parameter, operation }: Extract<WordPart, { type: 'ParameterExpansion' }>,
    position: number,
  ): boolean {
    if (prefix !== undefined) return prefix === '#';
    if (!this.#isNumber(parameter, position)) return false;
    return !operation || (operation.type === 'Default' && this.#isNumeric(operation.operand));
  }

  /** Variables that may have other values than numbers: those with such an assignment, or one composed of such variables. */
  get #notNumeric(): ReadonlySet<string> {
    if (!this.#others) {
      this.#others = new Set();
      this.#findOthers(this.#others);
    }
    return this.#others;
  }

  #findOthers(others: Set<string>): void {
    const words: (readonly [string, Word])[] = [];
    for (const [name, { assigned, isForeign }] of this.#assigned.entries()) {
      if (isForeign) others.add(name);
      for (const { words: own } of assigned) for (const word of own) words.push([name, word]);
    }
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const found = words.filter(([name, word]) => !others.has(name) && !this.#isNumeric(word));
      if (found.length === 0) return;
      for (const [name] of found) others.add(name);
    }
    for (const [name] of words) others.add(name);
  }
}

function isDigits({ value, parts }: Word): boolean {
  if (!parts) return /^\d+$/.test(value);
  const [part, ...others] = parts;
  if (others.length > 0) return false;
  return part?.type === 'BraceExpansion' ? NUMBERS.test(part.text) : part?.type === 'ArithmeticExpansion';
}

/** `{1..9}`. */
const NUMBERS = /^\{\d+\.\.\d+(?:\.\.\d+)?\}$/;

/** Names that a plain word may have. They neither lead to another directory nor look like an option. */
const PLAIN_NAME = /^[A-Za-z0-9_][\w.@%+,:-]*$/;

const isPlainName = ({ value, parts }: Word): boolean => !parts && PLAIN_NAME.test(value);

/**
 * Files of one kind in directories with plain names. Apart from their first character, the names are neither hidden nor
 * options.
 */
const PLAIN_PATTERN = /^(?:[A-Za-z0-9_][\w-]*\/)*[\w-]*\*[\w-]*\.\w{1,6}$/;

/** Whether a file of this name has a meaning of its own, wherever it is. */
const isSpecialFile = (name: string, facts: AnalysisFacts): boolean =>
  isSecret(`/any/${name}`, facts) || kindOf(`${facts.workspace}/${name}`, facts) !== 'workspace';

/** One of the values that a loop over these words has, as far as it follows from the words. */
function sampleOf(words: readonly Word[], { facts }: AnalysisContext): KnownValue | undefined {
  const [first, ...others] = words;
  if (words.every(isPlainName)) {
    const word = words.find(({ value }) => isSpecialFile(value, facts)) ?? first;
    return word && { value: word.value, isSample: true };
  }
  const isPattern = first !== undefined && others.length === 0 && PLAIN_PATTERN.test(first.text);
  return isPattern ? { value: first.text.replaceAll('*', 'x'), isSample: true } : undefined;
}

const isSubstitution = ({ parts }: Word): boolean => parts?.length === 1 && parts[0]?.type === 'CommandExpansion';

/** The value that a word expands to, if it is one short text. */
function expand(word: Word, lookup: VariableLookup, isSample: boolean): KnownValue | undefined {
  const [made, ...others] = toArguments(word, lookup);
  if (made?.value === undefined || made.isProcess || others.length > 0) return undefined;
  return made.value.length > MAX_VALUE_LENGTH ? undefined : { value: made.value, isSample: made.isSample || isSample };
}

/** The operands of an expression that are evaluated. A variable that is only assigned is not; its subscript is. */
function operandsOf(
  node: Exclude<ArithmeticExpression, { type: 'ArithmeticWord' | 'ArithmeticCommandExpansion' }>,
): readonly ArithmeticExpression[] {
  switch (node.type) {
    case 'ArithmeticUnary':
      return [node.operand];
    case 'ArithmeticGroup':
      return [node.expression];
    case 'ArithmeticTernary':
      return [node.test, node.consequent, node.alternate];
    case 'ArithmeticBinary': {
      const { operator, left, right } = node;
      const isPlainTarget = operator === '=' && left.type === 'ArithmeticWord' && IDENTIFIER.test(left.value);
      return isPlainTarget ? [right] : [left, right];
    }
  }
}

/** Everything in an expression that begins like a name; undefined for one with expansions. */
const namesIn = (text: string): readonly string[] | undefined =>
  /[$`]/.test(text) ? undefined : [...text.matchAll(/[A-Za-z_]\w*/g)].map(([name]) => name);
