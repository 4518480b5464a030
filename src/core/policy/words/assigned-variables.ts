import {
  type AndOr,
  type ArithmeticExpression,
  type Assignment,
  type Command,
  type CommandArgument,
  type For,
  forEachChild,
  type Function as FunctionNode,
  parse,
  type ParsedScript,
  type SyntaxNode,
  type Word,
} from 'unbash';

import { POLICY_LIMITS } from '../model.js';
import { hasExpansion } from './argument.js';
import { textsOf } from './saved-state.js';
import type { AnalysisContext } from './analysis-context.js';

/** Syntax nodes that the parser reads again at each nesting level. */
export type NestingNode = Extract<SyntaxNode, { type: (typeof NESTING)[number] }>;

const NESTING = [
  ...(['CommandExpansion', 'ProcessSubstitution', 'ArithmeticCommandExpansion'] as const),
  ...(['ArithmeticExpansion', 'ParameterExpansion'] as const),
] as const;

const NESTING_TYPES: ReadonlySet<string> = new Set(NESTING);

/** Whether the parser reads a node again at each nesting level. */
export const isNesting = (node: SyntaxNode): node is NestingNode => NESTING_TYPES.has(node.type);

/** What one place of a text assigns to a variable. */
export interface Assigned {
  /**
   * How the words make the value: it is the word, also in a variable of a function alone (`local`), or it is one of the
   * words, or has them as parts, or is a result of arithmetic.
   */
  readonly kind: 'value' | 'local' | 'choice' | 'parts' | 'number';
  readonly words: readonly Word[];
  /** Range of positions, without its end, in which the text certainly has made this assignment. */
  readonly from: number;
  readonly to: number;
}

/** Everything that a text assigns to one variable. */
export interface AssignedVariable {
  readonly assigned: Assigned[];
  /** It may have values from elsewhere as well. */
  isForeign: boolean;
}

/**
 * How a builtin sets variables.
 *
 * - `assigned`: its arguments are assignments, and names that get attributes.
 * - `named`: those that its arguments name get values from elsewhere: after `unset`, those of a caller.
 * - `byOption`: as `named`, if it has an option of `NAMING_OPTIONS`.
 * - `computed`: its arguments are expressions that may assign.
 * - `byText`: its first argument or all of them are a text that runs.
 * - `any`: it may set every variable.
 */
type Setting = 'assigned' | 'named' | 'byOption' | 'computed' | 'byText' | 'any';

/** The builtins of all shells that set variables. */
const SETTINGS: ReadonlyMap<string, Setting> = new Map(
  Object.entries({
    assigned: 'declare typeset local export readonly integer float',
    named: 'read mapfile readarray getopts vared unset alias',
    byOption: 'printf print set wait',
    computed: 'let',
    byText: 'eval trap',
    any: 'source . emulate zmodload',
  } satisfies Record<Setting, string>).flatMap(([setting, names]) =>
    names.split(' ').map((name) => [name, setting as Setting] as const),
  ),
);

/** Options with which a builtin sets the variables that its arguments name. */
const NAMING_OPTIONS: Readonly<Record<string, RegExp>> = {
  printf: /^["']?-v/,
  print: /^["']?-[A-Za-z]*v/,
  set: /^["']?[-+][A-Za-z]*A/,
  wait: /^["']?-[a-z]*p/,
};

/** The option with which `command` prints what a name is. */
const PRINTS_COMMAND = /^-p?[vV]$/;
/** Options of declarations that leave values as they are. */
const PLAIN_OPTION = /^[-+][gprx]+$/;
/** Operators of arithmetic that assign. */
const ASSIGNING = /^(?:[-+*/%&|^]|<<|>>)?=$/;
/** Nesting depth beyond which every variable counts as unknown. */
const MAX_DEPTH = 100;
/** Longest text of a trap, a function or an alias that is analysed, in characters. */
const MAX_TEXT_LENGTH = 1024;
/** Most of such texts. */
const MAX_TEXTS = 32;
/** Range of an assignment that may not happen. */
const NOWHERE = { from: Infinity, to: -1 } as const;

/** The name of a variable. */
export const IDENTIFIER = /^[A-Za-z_]\w*$/;

/** Everything that a text assigns to variables, and where that is certain: one walk through its syntax. */
export class AssignedVariables {
  /** Arrays whose keys are plain text. */
  readonly associative = new Set<string>();
  /** Variables with the attribute of integers. */
  readonly integers = new Set<string>();
  /** Functions that the text defines. */
  readonly functions = new Set<string>();
  /** The text may set any variable. */
  isAnySet = false;
  /** It calls programs that may be functions of its session, which are not known. */
  callsUnknown = false;
  /** It has a trap, or a function within a function: these may run when the variables of a function are gone. */
  hasLateCode = false;
  readonly #variables = new Map<string, AssignedVariable>();
  readonly #inquiry: AnalysisContext;
  /** Names of the session whose texts were visited. */
  readonly #called = new Set<string>();
  #depth = 0;
  #nesting = 0;
  #functionDepth = 0;
  #textCount = 0;
  /** Whether a text is visited that may run at any time. */
  #isApart = false;
  /** End of the last here-document with expansions, which the shell expands before what follows its operator. */
  #documentEnd = 0;

  constructor(script: ParsedScript, inquiry: AnalysisContext) {
    this.#inquiry = inquiry;
    this.#visit(script, Infinity);
  }

  /** What the text assigns to a variable; undefined when it does not set it. */
  get(name: string): AssignedVariable | undefined {
    return this.#variables.get(name);
  }

  /** The variables that the text sets, by their names. */
  entries(): Iterable<readonly [string, AssignedVariable]> {
    return this.#variables;
  }

  /** @param to end of the range for what a node assigns, if it certainly runs */
  #visit(node: SyntaxNode, to: number): void {
    const nesting = isNesting(node) ? 1 : 0;
    this.#depth += 1;
    this.#nesting += nesting;
    if (this.#depth > MAX_DEPTH || this.#nesting > POLICY_LIMITS.maxNesting) this.isAnySet = true;
    if (!this.isAnySet) this.#visitNode(node, to);
    this.#depth -= 1;
    this.#nesting -= nesting;
  }

  #visitNode(node: SyntaxNode, to: number): void {
    switch (node.type) {
      case 'Statement':
        this.#visit(node.command, node.background === true ? node.end : to);
        return;
      case 'AndOr':
        this.#visitAndOr(node, to);
        return;
      case 'Pipeline':
        for (const command of node.commands) this.#visit(command, node.commands.length === 1 ? to : command.end);
        return;
      case 'Command':
        this.#visitCommand(node, to);
        return;
      default:
        if (!this.#visitCompound(node, to)) this.#visitOther(node, to);
    }
  }

  /** Visits a compound command; returns false for other nodes. */
  #visitCompound(node: SyntaxNode, to: number): boolean {
    switch (node.type) {
      case 'Script':
        // Positions in it are those of another text.
        if (node.source !== undefined) this.isAnySet = true;
        this.#visitAll(node.commands, to);
        return true;
      case 'CompoundList':
        this.#visitAll(node.commands, to);
        return true;
      case 'BraceGroup':
        this.#visit(node.body, to);
        return true;
      case 'If':
      case 'While':
        this.#visit(node.clause, to);
        forEachChild(node, (part) => {
          if (part !== node.clause) this.#visit(part, part.end);
        });
        return true;
      case 'For':
        this.#visitLoop(node);
        return true;
      case 'Function':
        this.#visitFunction(node);
        return true;
      default:
        return false;
    }
  }

  #visitAll(nodes: readonly SyntaxNode[], to: number): void {
    for (const node of nodes) this.#visit(node, to);
  }

  /** The first command always runs. Up to the first `||`, each command runs only if all before it have. */
  #visitAndOr({ commands, operators }: AndOr, to: number): void {
    const alternative = operators.indexOf('||');
    const last = alternative === -1 ? commands.length - 1 : alternative;
    commands.forEach((command, index) => {
      const chained = index <= last ? (commands[last] ?? command) : command;
      this.#visit(command, index === 0 ? to : chained.end);
    });
  }

  #visitOther(node: SyntaxNode, to: number): void {
    this.#inspect(node, to);
    forEachChild(node, (child) => {
      this.#visit(child, child.end);
    });
  }

  #inspect(node: SyntaxNode, to: number): void {
    switch (node.type) {
      case 'ArithmeticFor':
        this.#noteResult(node.initialize, to);
        return;
      case 'ArithmeticCommand':
        this.#noteResult(node.expression, to);
        return;
      case 'ArithmeticBinary':
        if (ASSIGNING.test(node.operator)) this.#noteComputed(node.left);
        return;
      case 'ArithmeticUnary':
        if (node.operator.length === 2) this.#noteComputed(node.operand);
        return;
      case 'FileDescriptorVariable':
        this.#note(node.name, { kind: 'number', words: [], ...NOWHERE });
        return;
      default:
        this.#inspectNames(node);
    }
  }

  #inspectNames(node: SyntaxNode): void {
    if (node.type === 'Select') this.#noteForeign(node.name.value);
    else if (node.type === 'Coproc' && node.name) this.#noteForeign(node.name.value);
    else if (node.type === 'HereDoc' && node.body.parts) this.#documentEnd = node.body.end;
    else if (node.type === 'ParameterExpansion' && node.operation?.type === 'Default') {
      const { operator, operand } = node.operation;
      if (operator.endsWith('=')) this.#note(node.parameter, { kind: 'parts', words: [operand], ...NOWHERE });
    }
  }

  #visitFunction({ name, body }: FunctionNode): void {
    this.functions.add(name.value);
    this.hasLateCode ||= this.#functionDepth > 0;
    this.#functionDepth += 1;
    this.#visit(body, body.end);
    this.#functionDepth -= 1;
  }

  #visitLoop({ name, wordlist, body }: For): void {
    const words = wordlist ?? [];
    if (words.length === 0) this.#noteForeign(name.value);
    this.#note(name.value, { kind: 'choice', words, from: body.pos, to: body.end });
    for (const word of words) this.#visit(word, word.end);
    this.#visit(body, body.end);
  }

  /** Assignments before a name are in force for what follows up to the name. A failed redirection may prevent all. */
  #visitCommand(node: Command, to: number): void {
    const { name, prefix, suffix } = node;
    const end = node.redirects.length > 0 ? node.end : to;
    for (const part of prefix) if (part.type === 'Assignment') this.#noteAssignment(part, part.end, name?.pos ?? end);
    if (name) this.#visitProgram([name, ...node.args], node, end);
    for (const part of prefix) this.#visit(part, part.end);
    if (name) this.#visit(name, name.end);
    for (const part of suffix) this.#visit(part, part.end);
  }

  /** @param words the words of a command, without redirections; the first is its name */
  #visitProgram(words: readonly CommandArgument[], command: Command, to: number): void {
    const { programs } = this.#inquiry;
    const [name, ...args] = words;
    if (name?.type !== 'Word') return;
    if (hasExpansion(name)) this.isAnySet = true;
    if (programs.has(name.value, 'prefix') && !PRINTS_COMMAND.test(args[0]?.text ?? '')) {
      const at = args.findIndex((arg) => arg.type === 'Assignment' || !arg.text.startsWith('-'));
      if (at !== -1) this.#visitProgram(args.slice(at), command, to);
    }
    this.#visitCalled(name.value);
    this.#visitSetting(name.value, args, command.end, to);
  }

  /** Visits what a name of the session runs, once. */
  #visitCalled(name: string): void {
    const texts = textsOf(name, this.#inquiry);
    if (!texts) this.callsUnknown = true;
    if (!texts || this.#called.has(name)) return;
    this.#called.add(name);
    for (const text of texts) this.#visitText(text);
  }

  #visitSetting(name: string, args: readonly CommandArgument[], end: number, to: number): void {
    switch (SETTINGS.get(name)) {
      case 'assigned':
        this.#visitDeclaration(name, args, end, to);
        return;
      case 'named':
        this.#visitNames(name, args, end, to);
        return;
      case 'byOption':
        this.#visitOption(args, NAMING_OPTIONS[name]);
        return;
      case 'computed':
        this.#visitLet(args, to);
        return;
      case 'byText':
        this.hasLateCode ||= name === 'trap';
        this.#visitWords(name === 'trap' ? args.slice(0, 1) : args);
        return;
      case 'any':
        this.isAnySet = true;
        return;
      default:
    }
  }

  /** The shell expands all words before it assigns. */
  #visitDeclaration(program: string, args: readonly CommandArgument[], end: number, to: number): void {
    const options = args.filter(isOption).map(({ text }) => text);
    const names = args.filter((arg) => !isOption(arg));
    const isPlain = !/^(?:integer|float)$/.test(program) && options.every((text) => PLAIN_OPTION.test(text));
    const isGlobal = /^(?:export|readonly)$/.test(program);
    const kind = isPlain ? this.#kindOfDeclared(isGlobal) : 'parts';
    if (program !== 'export' && options.some((text) => /^-[A-Za-z]*n/.test(text))) this.isAnySet = true;
    for (const arg of names) {
      if (arg.type === 'Assignment') this.#noteAssignment(arg, end, to, kind);
      else if (!isPlain || !isGlobal || hasExpansion(arg)) this.#noteCleared(arg.text);
    }
    this.#noteAttributes(names, program === 'integer' ? ['-i'] : options);
  }

  #kindOfDeclared(isGlobal: boolean): Assigned['kind'] {
    return this.#functionDepth > 0 && !isGlobal ? 'local' : 'value';
  }

  #noteAttributes(names: readonly CommandArgument[], options: readonly string[]): void {
    const areArrays = options.some((text) => /^-[A-Za-z]*A/.test(text));
    const areIntegers = options.some((text) => /^-[A-Za-z]*i/.test(text));
    for (const arg of names) {
      const name = arg.type === 'Assignment' ? arg.name : arg.text;
      if (areArrays) this.associative.add(name);
      if (areIntegers) this.integers.add(name);
    }
  }

  #visitNames(program: string, args: readonly CommandArgument[], from: number, to: number): void {
    this.#noteNames(args);
    if (program === 'read') this.#noteForeign('REPLY');
    if (program !== 'getopts') return;
    this.#noteForeign('OPTARG');
    this.#note('OPTIND', { kind: 'number', words: [], from, to });
  }

  /** Where the first argument is not known, it may be the option. */
  #visitOption(args: readonly CommandArgument[], option: RegExp | undefined): void {
    const [first] = args;
    const isUnknown = first?.type === 'Word' && hasExpansion(first);
    if (isUnknown || args.some(({ text }) => option?.test(text) === true)) this.#noteNames(args);
  }

  #visitLet(args: readonly CommandArgument[], to: number): void {
    for (const { text, end } of args) {
      this.#noteCleared(text);
      const [, name] = /^["']?([A-Za-z_]\w*)=\d+["']?$/.exec(text) ?? [];
      if (name !== undefined) this.#note(name, { kind: 'number', words: [], from: end, to });
    }
  }

  #visitWords(args: readonly CommandArgument[]): void {
    const texts = args.flatMap((arg) => (arg.type === 'Word' && isLiteral(arg) ? [arg.value] : []));
    if (texts.length < args.length) this.isAnySet = true;
    else if (texts.length > 0) this.#visitText(texts.join(' '));
  }

  /** Visits a text that may run at any time, so that nothing that it assigns is certain. */
  #visitText(text: string): void {
    this.#textCount += 1;
    const isLong = text.length > MAX_TEXT_LENGTH || this.#textCount > MAX_TEXTS;
    const script = isLong ? undefined : parse(text);
    if (!script || script.errors) {
      this.isAnySet = true;
      return;
    }
    const isApart = this.#isApart;
    this.#isApart = true;
    this.#visit(script, NOWHERE.to);
    this.#isApart = isApart;
  }

  #noteAssignment(
    { name, value, append, index }: Assignment,
    from: number,
    to: number,
    kind: Assigned['kind'] = 'value',
  ): void {
    const words = value.type === 'Word' ? [value] : value.elements;
    const isWhole = value.type === 'Word' && append !== true && !index;
    this.#note(name, { kind: isWhole ? kind : 'parts', words, ...(index ? NOWHERE : { from, to }) });
  }

  /** What arithmetic assigns is a number. It is certain where the whole expression is an assignment. */
  #noteResult(expression: ArithmeticExpression | undefined, to: number): void {
    if (expression?.type !== 'ArithmeticBinary') return;
    const { operator, left, right, end } = expression;
    if (operator === ',') {
      this.#noteResult(left, to);
      this.#noteResult(right, to);
    } else if (ASSIGNING.test(operator) && left.type === 'ArithmeticWord' && IDENTIFIER.test(left.value)) {
      this.#note(left.value, { kind: 'number', words: [], from: end, to });
    }
  }

  /** The variable, or element of an array, on the left of an assignment in arithmetic. */
  #noteComputed(target: ArithmeticExpression): void {
    const [name] = (target.type === 'ArithmeticWord' && /^[A-Za-z_]\w*/.exec(target.value)) || [];
    if (name !== undefined) this.#note(name, { kind: 'number', words: [], ...NOWHERE });
  }

  /** A name without a value: its earlier value may be gone, or be another with its attributes. */
  #noteCleared(names: string): void {
    for (const [name] of names.matchAll(/[A-Za-z_]\w*/g)) this.#note(name, { kind: 'parts', words: [], ...NOWHERE });
  }

  #noteNames(words: readonly CommandArgument[]): void {
    for (const { text } of words) for (const [name] of text.matchAll(/[A-Za-z_]\w*/g)) this.#noteForeign(name);
  }

  #noteForeign(name: string): void {
    this.#variable(name).isForeign = true;
  }

  #note(name: string, assigned: Assigned): void {
    const variable = this.#variable(name);
    const last = variable.assigned.at(-1);
    // Without this, looking for a certain one of them would take quadratic time.
    const isRepeated = last?.kind === assigned.kind && last.from === Infinity && assigned.from === Infinity;
    if (isRepeated && assigned.words.length === 0) return;
    const from = Math.max(assigned.from, this.#documentEnd);
    if (!this.#isApart) variable.assigned.push({ ...assigned, from });
    // Words of another text are not at a position of this one.
    else if (assigned.words.some(hasExpansion)) variable.isForeign = true;
    else variable.assigned.push({ ...assigned, ...NOWHERE });
  }

  #variable(name: string): AssignedVariable {
    const known = this.#variables.get(name);
    if (known) return known;
    // Every command sets `$_`.
    const fresh: AssignedVariable = { assigned: [], isForeign: name === '_' };
    this.#variables.set(name, fresh);
    return fresh;
  }
}

const isOption = ({ text }: CommandArgument): boolean => /^[-+]/.test(text);

/** Whether a word expands to the same value at every time. */
export function isLiteral({ text, parts }: Word): boolean {
  if (!parts) return !text.startsWith('~') && !/[:=]~/.test(text);
  const [part] = parts;
  if (parts.length > 1) return false;
  return part?.type === 'SingleQuoted' || (part?.type === 'DoubleQuoted' && part.parts.every(isText));
}

const isText = ({ type }: SyntaxNode): boolean => type === 'Literal';
