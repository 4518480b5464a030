import {
  type ArithmeticExpression,
  type Assignment,
  type Command,
  type For,
  forEachChild,
  type ParsedScript,
  type SyntaxNode,
  type Word,
} from 'unbash';

import { POLICY_LIMITS } from '../model.js';
import { hasExpansion, type KnownValue } from '../words/argument.js';
import type { ProgramCatalog } from '../program-catalog.js';
import type { NamesContext } from '../words/program-knowledge.js';

/** Syntax nodes that the parser reads again at each nesting level. */
export type NestingNode = Extract<SyntaxNode, { type: (typeof NESTING)[number] }>;

const NESTING = [
  ...(['CommandExpansion', 'ProcessSubstitution', 'ArithmeticCommandExpansion'] as const),
  ...(['ArithmeticExpansion', 'ParameterExpansion'] as const),
] as const;

const NESTING_TYPES: ReadonlySet<string> = new Set(NESTING);

/** Whether the parser reads a node again at each nesting level. */
export const isNesting = (node: SyntaxNode): node is NestingNode => NESTING_TYPES.has(node.type);

/** A range of a text in which a variable has certainly been assigned by the text itself. */
interface Range {
  readonly from: number;
  readonly to: number;
}

/** A word that a text assigns to a variable. */
interface AssignedWord {
  readonly name: string;
  readonly word: Word;
}

/** Builtins that give the variables that their arguments name values from elsewhere: after `unset`, those of a caller. */
const READING = new Set(['read', 'mapfile', 'readarray', 'getopts', 'vared', 'printf', 'wait', 'unset']);
/** Operators of arithmetic that assign. */
const ASSIGNING = /^(?:[-+*/%&|^]|<<|>>)?=$/;
/** Nesting depth beyond which the assignments of a text count as unknown. */
const MAX_DEPTH = 100;

/** The name of a variable. */
export const IDENTIFIER = /^[A-Za-z_]\w*$/;

/** Everything that a text assigns to variables, and where that is certain. */
export class TextAssignments {
  /** Words that are assigned, anywhere in the text. */
  readonly words: AssignedWord[] = [];
  /** Variables that get values from elsewhere. */
  readonly fromElsewhere = new Set<string>();
  /** Arrays whose keys are plain text. */
  readonly associative = new Set<string>();
  /** Variables with the attribute of integers. */
  readonly integers = new Set<string>();
  /** Functions that the text defines. */
  readonly functions = new Set<string>();
  readonly #context: NamesContext;
  readonly #ranges = new Map<string, Range[]>();
  #isAnyUnknown = false;
  #depth = 0;
  #nesting = 0;

  constructor(script: ParsedScript, context: NamesContext) {
    this.#context = context;
    this.#visit(script, Infinity);
  }

  /** Whether the text may assign anything to any variable. */
  get isAnyUnknown(): boolean {
    return this.#isAnyUnknown;
  }

  /** Whether the text certainly has assigned a variable before a position. */
  isAssigned(name: string, position: number): boolean {
    return this.#ranges.get(name)?.some(({ from, to }) => from <= position && position < to) === true;
  }

  /** @param to end of the range for what a node assigns, if it certainly runs */
  #visit(node: SyntaxNode, to: number): void {
    const nesting = isNesting(node) ? 1 : 0;
    this.#depth += 1;
    this.#nesting += nesting;
    if (this.#depth > MAX_DEPTH || this.#nesting > POLICY_LIMITS.maxNesting) this.#isAnyUnknown = true;
    if (!this.#isAnyUnknown) this.#visitNode(node, to);
    this.#depth -= 1;
    this.#nesting -= nesting;
  }

  #visitNode(node: SyntaxNode, to: number): void {
    switch (node.type) {
      case 'Statement':
        this.#visit(node.command, node.background === true ? node.end : to);
        return;
      case 'AndOr':
        node.commands.forEach((command, index) => {
          this.#visit(command, index === 0 ? to : node.end);
        });
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
      case 'CompoundList':
      case 'BraceGroup':
      case 'Redirected':
        forEachChild(node, (child) => {
          this.#visit(child, to);
        });
        return true;
      case 'If':
        this.#visit(node.clause, to);
        for (const part of [node.then, ...node.elif, ...(node.else ? [node.else] : [])]) this.#visit(part, part.end);
        return true;
      case 'While':
        this.#visit(node.clause, to);
        this.#visit(node.body, node.body.end);
        return true;
      case 'For':
        this.#visitLoop(node);
        return true;
      default:
        return false;
    }
  }

  #visitOther(node: SyntaxNode, to: number): void {
    if (node.type === 'ArithmeticFor') this.#noteResult(node.initialize, to);
    else if (node.type === 'ArithmeticCommand') this.#noteResult(node.expression, to);
    else if (node.type === 'Function') this.functions.add(node.name.value);
    else if (node.type === 'Select') this.fromElsewhere.add(node.name.value);
    else if (node.type === 'Coproc' && node.name) this.fromElsewhere.add(node.name.value);
    else if (node.type === 'ParameterExpansion' && node.operation?.type === 'Default') {
      this.words.push({ name: node.parameter, word: node.operation.operand });
    }
    forEachChild(node, (child) => {
      this.#visit(child, child.end);
    });
  }

  #visitLoop({ name, wordlist, body }: For): void {
    const words = wordlist ?? [];
    if (words.length === 0) this.fromElsewhere.add(name.value);
    for (const word of words) this.words.push({ name: name.value, word });
    for (const word of words) this.#visitOther(word, word.end);
    this.#addRange(name.value, { from: body.pos, to: body.end });
    this.#visit(body, body.end);
  }

  #visitCommand(node: Command, to: number): void {
    const { name, prefix, suffix } = node;
    for (const part of prefix) if (part.type === 'Assignment') this.#noteAssignment(part, name ? node.end : to);
    if (name) this.#visitProgram(node, name, to);
    for (const part of [...prefix, ...suffix, ...(name ? [name] : [])]) this.#visitOther(part, part.end);
  }

  #visitProgram({ suffix }: Command, name: Word, to: number): void {
    const { programs, isOwnName } = this.#context;
    const words = suffix.flatMap((part) => (part.type === 'Word' ? [part] : []));
    const isDeclaration = programs.has(name.value, 'declares');
    const isReference = isDeclaration && words.some(({ text }) => /^-[A-Za-z]*n/.test(text));
    const maySetAny = hasExpansion(name) || programs.has(name.value, 'anyVariable') || isOwnName(name.value);
    if (maySetAny || isReference) this.#isAnyUnknown = true;
    else if (isDeclaration) this.#visitDeclaration(suffix, words, to);
    else if (READING.has(name.value)) this.#noteNames(words);
    else if (name.value === 'let') this.#visitLet(words, to);
  }

  #visitDeclaration(suffix: Command['suffix'], words: readonly Word[], to: number): void {
    const names = [
      ...words.map(({ text }) => text),
      ...suffix.map((part) => (part.type === 'Assignment' ? part.name : '')),
    ];
    const note = (attribute: RegExp, known: Set<string>) => {
      if (!words.some(({ text }) => attribute.test(text))) return;
      for (const name of names) if (IDENTIFIER.test(name)) known.add(name);
    };
    note(/^-[A-Za-z]*A/, this.associative);
    note(/^-[A-Za-z]*i/, this.integers);
    for (const part of suffix) if (part.type === 'Assignment') this.#noteAssignment(part, to);
  }

  #visitLet(words: readonly Word[], to: number): void {
    for (const { value, end } of words) {
      const [, name] = /^([A-Za-z_]\w*)=\d+$/.exec(value) ?? [];
      if (name !== undefined) this.#addRange(name, { from: end, to });
    }
  }

  #noteAssignment({ name, value, index, end }: Assignment, to: number): void {
    const words = value.type === 'Word' ? [value] : value.elements;
    for (const word of words) this.words.push({ name, word });
    if (!index) this.#addRange(name, { from: end, to });
  }

  /** What arithmetic assigns is a number; a part of an expression may not be evaluated. */
  #noteResult(expression: ArithmeticExpression | undefined, to: number): void {
    if (expression?.type !== 'ArithmeticBinary') return;
    const { operator, left, right, end } = expression;
    if (operator === ',') {
      this.#noteResult(left, to);
      this.#noteResult(right, to);
    } else if (ASSIGNING.test(operator) && left.type === 'ArithmeticWord' && IDENTIFIER.test(left.value)) {
      this.#addRange(left.value, { from: end, to });
    }
  }

  #noteNames(words: readonly Word[]): void {
    for (const { text } of words) for (const [name] of text.matchAll(/[A-Za-z_]\w*/g)) this.fromElsewhere.add(name);
  }

  #addRange(name: string, range: Range): void {
    const ranges = this.#ranges.get(name);
    if (ranges) ranges.push(range);
    else this.#ranges.set(name, [range]);
  }
}

/** A value that a text gives to a variable, and the range of the text in which it is valid. */
export interface Definition extends KnownValue {
  /** The word that is expanded at `at` to give the value, if there is one. */
  readonly word?: Word;
  readonly at?: number;
  readonly from: number;
  readonly to: number;
}

/** The effects of a text on variables. */
export interface TextVariables {
  readonly definitions: ReadonlyMap<string, Definition>;
  /** No variable has a certain value any more. */
  readonly areSpoiled: boolean;
  /** Whether the name of a program may be an alias, a function or a file here. */
  readonly isOwnName: (name: string) => boolean;
  /** Whether a file of this name has a meaning of its own, wherever it is. */
  readonly isSpecialFile: (name: string) => boolean;
  readonly programs: ProgramCatalog;
  /** Cache of values that were already computed. */
  readonly made: Map<Definition, KnownValue | undefined>;
}
