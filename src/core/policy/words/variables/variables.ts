import {
  type Assignment,
  type Command,
  type For,
  forEachChild,
  parse,
  type ParsedScript,
  type SyntaxNode,
  type Word,
} from 'unbash';

import { type KnownValue, toArguments, type VariableLookup } from '../argument.js';
import type { Directory } from '../../model/facts.js';
import { POLICY_LIMITS } from '../../model/limits.js';
import { hasExpansion } from '../expanding-word.js';
import type { ProgramKnowledge } from '../program-knowledge.js';
import { outputOfSubstitution } from '../substitutions.js';

/** A value that a text gives to a variable, and the range of the text in which it is valid. */
interface Definition extends KnownValue {
  /** The word that is expanded at `at` to give the value, if there is one. */
  readonly word?: Word;
  readonly at?: number;
  readonly from: number;
  readonly to: number;
}

/** Names that a plain word may have. They neither lead to another directory nor look like an option. */
const PLAIN_NAME = /^[A-Za-z0-9_][\w.@%+,:-]*$/;

/** The effects of a text on variables. */
export interface TextVariables {
  readonly definitions: ReadonlyMap<string, Definition>;
  /** No variable has a certain value any more. */
  readonly areSpoiled: boolean;
  /** Whether the name of a program may be an alias, a function or a file here. */
  readonly isOwnName: (name: string) => boolean;
  /** Whether a file of this name has a meaning of its own, wherever it is. */
  readonly isSpecialFile: (name: string) => boolean;
  readonly programs: ProgramKnowledge;
  /** Cache of values that were already computed. */
  readonly made: Map<Definition, KnownValue | undefined>;
}

/**
 * Finds the variables of a text whose values are certain: assigned once, by a plain command of the outermost list that
 * always runs, before they are used; or iterating over plain words in a `for`. Anything else that touches a variable
 * makes it unknown.
 */
export function findVariables(
  script: ParsedScript,
  names: Pick<TextVariables, 'isOwnName' | 'isSpecialFile' | 'programs'>,
): TextVariables {
  const finder = new VariableFinder(names);
  finder.visit(script, true, 0, 0);
  return { made: new Map(), ...names, ...finder.conclude() };
}

/** A definition that is valid nowhere. */
const NOWHERE: Definition = { value: '', isSample: false, from: Infinity, to: -1 };

class VariableFinder {
  readonly #definitions = new Map<string, Definition>();
  readonly #spoiled = new Set<string>();
  readonly #programs: ProgramKnowledge;
  readonly #names: Pick<TextVariables, 'isSpecialFile' | 'programs'>;
  #areSpoiled = false;

  constructor(names: Pick<TextVariables, 'isSpecialFile' | 'programs'>) {
    this.#programs = names.programs;
    this.#names = names;
  }

  conclude(): Pick<TextVariables, 'definitions' | 'areSpoiled'> {
    for (const name of this.#spoiled) this.#definitions.set(name, NOWHERE);
    return { definitions: this.#definitions, areSpoiled: this.#areSpoiled };
  }

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

/** Syntax nodes that the parser reads again at each nesting level. */
export type NestingNode = Extract<SyntaxNode, { type: (typeof NESTING)[number] }>;

const NESTING = [
  ...(['CommandExpansion', 'ProcessSubstitution', 'ArithmeticCommandExpansion'] as const),
  ...(['ArithmeticExpansion', 'ParameterExpansion'] as const),
] as const;

const NESTING_TYPES: ReadonlySet<string> = new Set(NESTING);

/** Whether the parser reads a node again at each nesting level. */
export const isNesting = (node: SyntaxNode): node is NestingNode => NESTING_TYPES.has(node.type);

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

/** Sample name of a file or directory made by `mktemp`; the real name differs each time. */
export const TEMPORARY = '/tmp/tmp.XXXXXXXXXX';

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

/** A position of a text, where variables are looked up. */
interface LookupPlace {
  readonly position: number;
  /** Possible current directories there. */
  readonly directories: readonly Directory[];
  /** Number of variables whose values led to this lookup. @default 0 */
  readonly depth?: number;
}

/**
 * Returns the lookup of known variables and substitutions at a position of a text.
 *
 * @param outer lookup of the names that the text does not define
 */
export function lookupAt(
  variables: TextVariables,
  { position, directories, depth = 0 }: LookupPlace,
  outer: VariableLookup,
): VariableLookup {
  const { definitions, areSpoiled } = variables;
  const directory = directories.length === 1 ? directories[0] : undefined;
  const lookup: VariableLookup = (name) => {
    if (/^(?:\$\(|`)/.test(name)) return outputOfSubstitution(name, variables, lookup);
    if (areSpoiled) return undefined;
    const definition = definitions.get(name);
    if (definition) {
      const isValid = definition.from <= position && position <= definition.to;
      return isValid ? valueOf(definition, variables, outer, depth) : undefined;
    }
    if (name !== 'PWD') return outer(name);
    return directory === undefined ? undefined : { value: directory, isSample: false };
  };
  return lookup;
}

/** Longest chain of variables that refer to variables; beyond it, the value counts as unknown. */
const MAX_CHAIN = 8;
/** Longest value that is composed of others, in characters. */
const MAX_VALUE_LENGTH = 1024;

/**
 * The value of a variable, computed from the values known where it was set. The directory at that place is not taken
 * into account.
 */
function valueOf(
  definition: Definition,
  variables: TextVariables,
  outer: VariableLookup,
  depth: number,
): KnownValue | undefined {
  const { word, at = 0 } = definition;
  if (!word) return definition;
  if (depth > MAX_CHAIN) return undefined;
  if (!variables.made.has(definition)) {
    const lookup = lookupAt(variables, { position: at, directories: [undefined], depth: depth + 1 }, outer);
    variables.made.set(definition, expand(word, lookup, definition.isSample));
  }
  return variables.made.get(definition);
}

/** The value that a word expands to, if it is one short text. */
function expand(word: Word, lookup: VariableLookup, isSample: boolean): KnownValue | undefined {
  const [made, ...others] = toArguments(word, lookup);
  if (made?.value === undefined || made.isProcess || others.length > 0) return undefined;
  return made.value.length > MAX_VALUE_LENGTH ? undefined : { value: made.value, isSample: made.isSample || isSample };
}
