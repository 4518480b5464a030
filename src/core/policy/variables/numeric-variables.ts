import { type ArithmeticExpression, parse, type ParsedScript, type SyntaxNode, type Word, type WordPart } from 'unbash';

import { NUMERIC_PARAMETERS } from '../words/argument.js';
import type { NamesContext } from '../words/program-knowledge.js';
import { IDENTIFIER, TextAssignments } from './text-assignments.js';

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

/** A simple command. */
interface Call {
  readonly name: string;
  /** Text of its arguments. */
  readonly args: string;
}

/**
 * Whether a substitution certainly prints numbers.
 * @param isOwnName whether a program may be an alias or a function here
 */
function printsNumbers(script: ParsedScript | undefined, isOwnName: (name: string) => boolean): boolean {
  const parts = pipelineOf(script);
  const last = callOf(parts.at(-1), isOwnName);
  if (!last) return false;
  if (isListed(NUMBER_PRINTERS, last)) return true;
  const before = callOf(parts.at(-2), isOwnName);
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
function callOf(node: SyntaxNode | undefined, isOwnName: (name: string) => boolean): Call | undefined {
  if (node?.type !== 'Command') return undefined;
  const { name, prefix, suffix } = node;
  if (!name || name.parts || isOwnName(name.value)) return undefined;
  if (prefix.some(({ type }) => type === 'Assignment')) return undefined;
  const words = suffix.flatMap((part) => (part.type === 'Word' ? [part.text] : []));
  return { name: name.value, args: words.join(' ') };
}

/** Rounds in which variables that depend on each other are found out; beyond it, none counts as a number. */
const MAX_ROUNDS = 8;
/** Depth of an expression beyond which it counts as unknown. */
const MAX_DEPTH = 100;

const NUMBER = /^(?:0[xX][\da-fA-F]+|\d+#[\da-zA-Z@_]+|\d*)$/;

type ArithmeticWord = Extract<ArithmeticExpression, { type: 'ArithmeticWord' }>;

/** How a part of a word is read: as a value, or as arithmetic, in which names and operators may occur. */
type Reading = 'value' | 'expression';

/**
 * Finds the variables of a text that certainly are numbers: arithmetic evaluates the value of a variable as an
 * expression, and an expression may run commands, as in `a[$(reboot)]`. A variable is a number where the text has
 * assigned it before, and if every assignment anywhere in the text is of a number. Source: bash(1), ARITHMETIC
 * EVALUATION.
 */
export class NumericVariables {
  readonly #script: ParsedScript;
  readonly #context: NamesContext;
  /** What the text assigns; found when it is first asked for, which most texts never do. */
  #assignments: TextAssignments | undefined;
  /** Variables with values that may be anything. */
  readonly #others = new Set<string>();
  #isAnyUnknown = false;
  /** Position of the expression that is judged, where it was parsed on its own. */
  #place: number | undefined;

  constructor(script: ParsedScript, context: NamesContext) {
    this.#script = script;
    this.#context = context;
  }

  get #text(): TextAssignments {
    if (!this.#assignments) {
      this.#assignments = new TextAssignments(this.#script, this.#context);
      this.#conclude(this.#assignments);
    }
    return this.#assignments;
  }

  readonly #isOwnName = (name: string): boolean => this.#text.functions.has(name) || this.#context.isOwnName(name);

  /** Whether keys of an array are plain text in this text. */
  isAssociative(name: string): boolean {
    return this.#text.associative.has(name);
  }

  /** Whether the text gives a variable the attribute of integers. */
  isInteger(name: string): boolean {
    return this.#text.integers.has(name);
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

  /** Returns the first expansion in a word that may be other than a number; undefined when there is none. */
  unknownExpansion(parts: readonly WordPart[], position: number): string | undefined {
    for (const part of parts) {
      if (part.type === 'Literal' || part.type === 'SingleQuoted') continue;
      const unknown = part.type === 'DoubleQuoted' ? this.unknownExpansion(part.parts, position) : part.text;
      // To the parser, a subscript is a pattern.
      const isNumeric =
        part.type === 'Glob'
          ? this.#areNumbers(part.text.replaceAll(/\$(?=\w)/g, ''), position)
          : this.#isNumericPart(part, position, 'value');
      if (unknown !== undefined && !isNumeric) return unknown;
    }
    return undefined;
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
    const isAssigned = this.#text.isAssigned(name, this.#place ?? at);
    if (this.#others.has(name)) return false;
    return NUMERIC_PARAMETERS.has(name) || (!this.#isAnyUnknown && isAssigned);
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
        return /^\{\d+\.\.\d+(?:\.\.\d+)?\}$/.test(part.text);
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

  /** A variable to which other values than numbers are assigned is none; nor is one whose value is composed of such ones. */
  #conclude({ fromElsewhere, isAnyUnknown, words }: TextAssignments): void {
    for (const name of fromElsewhere) this.#others.add(name);
    this.#isAnyUnknown = isAnyUnknown;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const found = words.filter(({ name, word }) => !this.#others.has(name) && !this.#isNumeric(word));
      if (found.length === 0) return;
      for (const { name } of found) this.#others.add(name);
    }
    this.#isAnyUnknown = true;
  }
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
