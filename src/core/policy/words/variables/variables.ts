import { type ParsedScript, type Word } from 'unbash';

import { type KnownValue, toArguments, type VariableLookup } from '../argument.js';
import type { Directory } from '../../model/facts.js';
import type { Definition, TextVariables } from './text-variables.js';
import { VariableFinder } from './variable-finder.js';
import { outputOfSubstitution } from '../substitutions.js';

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

/** Sample name of a file or directory made by `mktemp`; the real name differs each time. */
export const TEMPORARY = '/tmp/tmp.XXXXXXXXXX';

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
