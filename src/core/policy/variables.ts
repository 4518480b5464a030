import { type Command, type For, forEachChild, type ParsedScript, type SyntaxNode, type Word } from 'unbash';

import type { VariableLookup } from './argument.js';
import type { Directory } from './facts.js';
import { POLICY_LIMITS } from './limits.js';

/** A value that a text gives to a variable, and from where to where it holds. */
interface Definition {
  readonly value: string;
  /** One of several like it: a loop's. */
  readonly isSample: boolean;
  readonly from: number;
  readonly to: number;
}

/** Commands that give variables values which no table foresees. */
const SETTERS = new Set(
  'read mapfile readarray printf getopts let declare typeset local readonly export unset eval source . wait select vared coproc set shift alias trap zmodload emulate'.split(
    ' ',
  ),
);

/** Names that a plain word may have without leading to another directory or being an option. */
const PLAIN_NAME = /^[A-Za-z0-9_][\w.@%+,:-]*$/;

/** What a text does to variables. */
export interface TextVariables {
  readonly definitions: ReadonlyMap<string, Definition>;
  /** No variable is certain any more. */
  readonly areSpoiled: boolean;
}

/**
 * Finds the variables of a text whose values are certain: assigned once, by a plain command of the outermost list that
 * always runs, before they are used; or running over plain words in a `for`. Whatever else touches a variable makes it
 * unknown.
 */
export function findVariables(script: ParsedScript): TextVariables {
  const finder = new VariableFinder();
  finder.visit(script, true, 0, 0);
  return finder.conclude();
}

/** Never holds. */
const NOWHERE: Definition = { value: '', isSample: false, from: Infinity, to: -1 };

class VariableFinder {
  readonly #definitions = new Map<string, Definition>();
  readonly #spoiled = new Set<string>();
  #areSpoiled = false;

  conclude(): TextVariables {
    for (const name of this.#spoiled) this.#definitions.set(name, NOWHERE);
    return { definitions: this.#definitions, areSpoiled: this.#areSpoiled };
  }

  visit(node: SyntaxNode, isCertain: boolean, depth: number, nesting: number): void {
    const inner = nesting + (isNesting(node) ? 1 : 0);
    if (depth > MAX_DEPTH || inner > POLICY_LIMITS.maxNesting) this.#areSpoiled = true;
    if (this.#areSpoiled) return;
    this.#look(node, isCertain);
    const passesOn = CERTAIN_PARENTS.has(node.type) && !(node.type === 'Statement' && node.background === true);
    let isFirst = true;
    forEachChild(node, (child) => {
      this.visit(child, isCertain && passesOn && (node.type !== 'AndOr' || isFirst), depth + 1, inner);
      isFirst = false;
    });
  }

  #look(node: SyntaxNode, isCertain: boolean): void {
    switch (node.type) {
      case 'Command':
        this.#lookAtCommand(node, isCertain);
        return;
      case 'For':
        this.#lookAtLoop(node);
        return;
      case 'ParameterExpansion':
        if (node.operation?.type === 'Default') this.#spoiled.add(node.parameter);
        return;
      // A function may be called at any time, and from anywhere.
      case 'Function':
      case 'Select':
      case 'Coproc':
      case 'ArithmeticExpansion':
      case 'ArithmeticCommand':
      case 'ArithmeticFor':
        spoil(node, this.#spoiled);
        return;
      default:
    }
  }

  #lookAtCommand(node: Command, isCertain: boolean): void {
    const { name, prefix } = node;
    // The text of an `eval` names what it changes, if all of it is known.
    const isKnownText = name?.value === 'eval' && node.suffix.every((word) => word.type === 'Word' && isLiteral(word));
    if (name && (name.parts || SPOILERS.has(name.value)) && !isKnownText) this.#areSpoiled = true;
    else if (name && SETTERS.has(name.value)) spoil(node, this.#spoiled);
    for (const assignment of prefix) {
      if (assignment.type !== 'Assignment') continue;
      const { value, append, index, end } = assignment;
      const isWhole = isCertain && !name && append !== true && !index && value.type === 'Word';
      if (isWhole && isLiteral(value)) {
        this.#define(assignment.name, { value: value.value, isSample: false, from: end, to: Infinity });
      } else if (isWhole && MAKES_TEMPORARY.test(value.text)) {
        this.#define(assignment.name, { value: '/tmp/tmp.XXXXXXXXXX', isSample: true, from: end, to: Infinity });
      } else this.#spoiled.add(assignment.name);
    }
  }

  #lookAtLoop({ name, wordlist = [], body }: For): void {
    const [first] = wordlist;
    const arePlain = wordlist.every((word) => !word.parts && PLAIN_NAME.test(word.value));
    if (!first || !arePlain) this.#spoiled.add(name.value);
    else this.#define(name.value, { value: first.value, isSample: true, from: body.pos, to: body.end });
  }

  #define(name: string, definition: Definition): void {
    if (this.#definitions.has(name)) this.#spoiled.add(name);
    else this.#definitions.set(name, definition);
  }
}

/** Syntax that the parser reads again at each level. */
export type NestingNode = Extract<SyntaxNode, { type: (typeof NESTING)[number] }>;

const NESTING = [
  ...(['CommandExpansion', 'ProcessSubstitution', 'ArithmeticCommandExpansion'] as const),
  ...(['ArithmeticExpansion', 'ParameterExpansion'] as const),
] as const;

const NESTING_TYPES: ReadonlySet<string> = new Set(NESTING);

/** Whether a node is one that the parser reads again at each level. */
export const isNesting = (node: SyntaxNode): node is NestingNode => NESTING_TYPES.has(node.type);

/** Depth of syntax beyond which no variable counts as known. */
const MAX_DEPTH = 100;

/** Commands after which nothing is certain. */
const SPOILERS = new Set(['eval', 'source', '.', 'trap', 'emulate', 'zmodload']);

/** What always runs when that around it does, in the same shell. */
const CERTAIN_PARENTS = new Set(['Script', 'Statement', 'AndOr', 'CompoundList', 'BraceGroup', 'Command']);

/** Whether a word is the same whenever it is read. */
function isLiteral({ text, parts }: Word): boolean {
  if (!parts) return !text.startsWith('~') && !/[:=]~/.test(text);
  const [part] = parts;
  if (parts.length > 1) return false;
  return part?.type === 'SingleQuoted' || (part?.type === 'DoubleQuoted' && part.parts.every(isText));
}

const isText = ({ type }: SyntaxNode): boolean => type === 'Literal';

/** A new file or directory in the directory for temporary ones. */
const MAKES_TEMPORARY = /^"?\$\(mktemp(?: -[dq])*\)"?$/;

/** Every name that stands anywhere in a node may be changed by it. */
function spoil(node: SyntaxNode, spoiled: Set<string>): void {
  const visit = (child: SyntaxNode, depth: number, nesting: number): void => {
    const inner = nesting + (isNesting(child) ? 1 : 0);
    if (depth > MAX_DEPTH || inner > POLICY_LIMITS.maxNesting) return;
    if ('text' in child && typeof child.text === 'string') addNames(child.text, spoiled);
    if ('value' in child && typeof child.value === 'string') addNames(child.value, spoiled);
    if (child.type === 'Assignment') spoiled.add(child.name);
    if (child.type === 'For' || child.type === 'Select') spoiled.add(child.name.value);
    forEachChild(child, (next) => {
      visit(next, depth + 1, inner);
    });
  };
  visit(node, 0, 0);
}

function addNames(text: string, spoiled: Set<string>): void {
  for (const [name] of text.matchAll(/[A-Za-z_]\w*/g)) spoiled.add(name);
}

/** What is known of variables at a place of a text. */
export function lookupAt(
  { definitions, areSpoiled }: TextVariables,
  position: number,
  directories: readonly Directory[],
  outer: VariableLookup,
): VariableLookup {
  return (name) => {
    if (areSpoiled) return undefined;
    const definition = definitions.get(name);
    if (definition) return definition.from <= position && position <= definition.to ? definition : undefined;
    if (name !== 'PWD') return outer(name);
    const [directory] = directories;
    return directories.length === 1 && directory !== undefined ? { value: directory, isSample: false } : undefined;
  };
}
