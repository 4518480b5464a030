import { type Assignment, type Command, type For, forEachChild, parse, type SyntaxNode, type Word } from 'unbash';

import { POLICY_LIMITS } from '../model.js';
import { hasExpansion } from '../words/argument.js';
import type { ProgramCatalog } from '../program-catalog.js';
import { type Definition, isNesting, type TextVariables } from './text-assignments.js';

/** Names that a plain word may have. They neither lead to another directory nor look like an option. */
const PLAIN_NAME = /^[A-Za-z0-9_][\w.@%+,:-]*$/;

/** A definition that is valid nowhere. */
const NOWHERE: Definition = { value: '', isSample: false, from: Infinity, to: -1 };

/** Walks through a text and notes what it does to variables. */
export class VariableFinder {
  readonly #definitions = new Map<string, Definition>();
  readonly #spoiled = new Set<string>();
  readonly #programs: ProgramCatalog;
  readonly #names: Pick<TextVariables, 'isSpecialFile' | 'programs'>;
  #areSpoiled = false;

  constructor(names: Pick<TextVariables, 'isSpecialFile' | 'programs'>) {
    this.#programs = names.programs;
    this.#names = names;
  }

  /** What the text does. */
  conclude(): Pick<TextVariables, 'definitions' | 'areSpoiled'> {
    for (const name of this.#spoiled) this.#definitions.set(name, NOWHERE);
    return { definitions: this.#definitions, areSpoiled: this.#areSpoiled };
  }

  /**
   * Looks at a part of the text.
   * @param isCertain whether it always runs, in the shell itself
   */
  visit(node: SyntaxNode, isCertain: boolean, depth: number, nesting: number): void {
    const inner = nesting + (isNesting(node) ? 1 : 0);
    if (depth > MAX_DEPTH || inner > POLICY_LIMITS.maxNesting) this.#areSpoiled = true;
    if (this.#areSpoiled) return;
    this.#inspect(node, isCertain);
    const passesOn = CERTAIN_PARENTS.has(node.type) && !(node.type === 'Statement' && node.background === true);
    let isFirst = true;
    forEachChild(node, (child) => {
      this.visit(child, isCertain && passesOn && (node.type !== 'AndOr' || isFirst), depth + 1, inner);
      isFirst = false;
    });
  }

  #inspect(node: SyntaxNode, isCertain: boolean): void {
    switch (node.type) {
      case 'Command':
        this.#inspectCommand(node, isCertain);
        return;
      case 'For':
        this.#inspectLoop(node);
        return;
      case 'ParameterExpansion':
        if (node.operation?.type === 'Default') this.#spoiled.add(node.parameter);
        return;
      default:
        if (SETTERS.has(node.type)) markUnknown(node, this.#spoiled);
    }
  }

  #inspectCommand(node: Command, isCertain: boolean): void {
    const isHarmlessTrap = node.name?.value === 'trap' && this.#inspectTrap(node);
    if (isHarmlessTrap) return;
    if (node.name) this.#inspectProgram(node, node.name);
    for (const part of node.prefix) {
      if (part.type === 'Assignment') this.#inspectAssignment(part, isCertain && !node.name);
    }
  }

  /** A program that changes variables, or that may be any program. */
  #inspectProgram(node: Command, name: Word): void {
    const maySetAny = hasExpansion(name) || this.#programs.has(name.value, 'anyVariable');
    if (maySetAny && !isKnownEval(node)) this.#areSpoiled = true;
    else if (this.#programs.has(name.value, 'declares')) this.#inspectDeclaration(node);
    else if (this.#programs.has(name.value, 'variables')) markUnknown(node, this.#spoiled);
  }

  /** Names that are declared change; those in the values do not. */
  #inspectDeclaration({ suffix }: Command): void {
    for (const part of suffix) {
      if (part.type === 'Assignment') this.#spoiled.add(part.name);
      else markUnknown(part, this.#spoiled);
    }
  }

  /** `isCertain` says that the assignment always happens, and stays valid after its command. */
  #inspectAssignment({ name, value, append, index, pos, end }: Assignment, isCertain: boolean): void {
    const place = { from: end, to: Infinity };
    if (!isCertain || append === true || index || value.type !== 'Word') this.#spoiled.add(name);
    else if (isLiteral(value)) this.#define(name, { value: value.value, isSample: false, ...place });
    else if (/[:=]~/.test(value.text)) this.#spoiled.add(name);
    else this.#define(name, { value: '', isSample: false, word: value, at: pos, ...place });
  }

  /**
   * A trap whose text is known may run at any time, so the variables that it sets are uncertain. Returns true when the
   * trap has no other effect.
   */
  #inspectTrap({ suffix }: Command): boolean {
    const [action] = suffix;
    if (action?.type !== 'Word' || !isLiteral(action) || action.value.length > MAX_TRAP_LENGTH) return false;
    const finder = new VariableFinder(this.#names);
    const text = parse(action.value);
    if (text.errors || /\btrap\b/.test(action.value)) return false;
    finder.visit(text, false, 0, 0);
    const { definitions, areSpoiled } = finder.conclude();
    for (const name of definitions.keys()) this.#spoiled.add(name);
    return !areSpoiled;
  }

  #inspectLoop({ name, wordlist = [], body }: For): void {
    const sample = sampleOf(wordlist, this.#names.isSpecialFile);
    if (sample) this.#define(name.value, { ...sample, isSample: true, from: body.pos, to: body.end });
    else this.#spoiled.add(name.value);
  }

  #define(name: string, definition: Definition): void {
    if (this.#definitions.has(name)) this.#spoiled.add(name);
    else this.#definitions.set(name, definition);
  }
}

/** Nesting depth beyond which every variable counts as unknown. */
const MAX_DEPTH = 100;

/** Nodes that always run when their parent runs, in the same shell. */
const CERTAIN_PARENTS = new Set(['Script', 'Statement', 'AndOr', 'CompoundList', 'BraceGroup', 'Command']);

/** Nodes that may set any variable that they name. A function can be called at any time and from any place. */
const SETTERS: ReadonlySet<string> = new Set([
  ...['Function', 'Select', 'Coproc'],
  ...['ArithmeticExpansion', 'ArithmeticCommand', 'ArithmeticFor'],
]);

/** An `eval` whose text is known: that text names the variables that it changes. */
const isKnownEval = ({ name, suffix }: Command): boolean =>
  name?.value === 'eval' && suffix.every((word) => word.type === 'Word' && isLiteral(word));

/** One of the values that a loop over these words has; undefined when they may be anything. */
function sampleOf(
  words: readonly Word[],
  isSpecialFile: (name: string) => boolean,
): Pick<Definition, 'value' | 'word' | 'at'> | undefined {
  const [first, ...others] = words;
  if (!first) return undefined;
  if (words.every((word) => !word.parts && PLAIN_NAME.test(word.value)))
    return { value: (words.find(({ value }) => isSpecialFile(value)) ?? first).value };
  return others.length > 0 ? undefined : sampleOfWord(first);
}

/** One of the values that a single word expands to. */
function sampleOfWord(first: Word): Pick<Definition, 'value' | 'word' | 'at'> | undefined {
  if (PLAIN_PATTERN.test(first.text)) return { value: first.text.replaceAll('*', 'x') };
  const isSubstitution = first.parts?.length === 1 && first.parts[0]?.type === 'CommandExpansion';
  return isSubstitution ? { value: '', word: first, at: first.pos } : undefined;
}

/** Whether a word expands to the same value at every time. */
function isLiteral({ text, parts }: Word): boolean {
  if (!parts) return !text.startsWith('~') && !/[:=]~/.test(text);
  const [part] = parts;
  if (parts.length > 1) return false;
  return part?.type === 'SingleQuoted' || (part?.type === 'DoubleQuoted' && part.parts.every(isText));
}

const isText = ({ type }: SyntaxNode): boolean => type === 'Literal';

/** Longest text of a trap that is analysed, in characters. */
const MAX_TRAP_LENGTH = 1024;

/**
 * Files of one kind in directories with plain names. Apart from their first character, the names are neither hidden nor
 * options.
 */
const PLAIN_PATTERN = /^(?:[A-Za-z0-9_][\w-]*\/)*[\w-]*\*[\w-]*\.\w{1,6}$/;

/** Marks every name that occurs in a node as unknown, since the node may change it. */
function markUnknown(node: SyntaxNode, spoiled: Set<string>): void {
  const visit = (child: SyntaxNode, depth: number, nesting: number): void => {
    const inner = nesting + (isNesting(child) ? 1 : 0);
    if (depth > MAX_DEPTH || inner > POLICY_LIMITS.maxNesting) return;
    addNamesOf(child, spoiled);
    forEachChild(child, (next) => {
      visit(next, depth + 1, inner);
    });
  };
  visit(node, 0, 0);
}

/** Adds the names that occur in a node itself. */
function addNamesOf(node: SyntaxNode, names: Set<string>): void {
  if ('text' in node && typeof node.text === 'string') addNames(node.text, names);
  if ('value' in node && typeof node.value === 'string') addNames(node.value, names);
  if (node.type === 'Assignment') names.add(node.name);
  if (node.type === 'For' || node.type === 'Select') names.add(node.name.value);
}

function addNames(text: string, spoiled: Set<string>): void {
  for (const [name] of text.matchAll(/[A-Za-z_]\w*/g)) spoiled.add(name);
}
