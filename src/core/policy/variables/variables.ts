import { type Command, parse, type ParsedScript, type Word } from 'unbash';

import type { Directory, PolicyFacts } from '../model.js';
import { type KnownValue, toArguments, type VariableLookup } from '../words/argument.js';
import type { NamesContext } from '../words/program-knowledge.js';
import { VariableFinder } from './variable-finder.js';
import type { Definition, TextVariables } from './text-assignments.js';

/** Longest substitution whose command is looked at, in characters. */
const MAX_LENGTH = 256;

/** The output of a substitution, or a sample of it; undefined when it is unknown. */
function outputOfSubstitution(text: string, names: NamesContext, lookup: VariableLookup): KnownValue | undefined {
  const value = printedBy(text, names) ?? echoedBy(text, names, lookup);
  return value === undefined ? undefined : { value, isSample: true };
}

/** A sample of the one plain word that some commands always print. */
function printedBy(text: string, { isOwnName, programs }: NamesContext): string | undefined {
  const [program = ''] = /^\w+/.exec(text.slice(2)) ?? [];
  return isOwnName(program) ? undefined : programs.printedBy(text);
}

/** The output of one command that follows from its words, such as `echo ~/x`. */
function echoedBy(text: string, { isOwnName, programs }: NamesContext, lookup: VariableLookup): string | undefined {
  const command = text.length > MAX_LENGTH ? undefined : commandOf(text);
  const name = command?.name;
  if (!name || name.parts || isOwnName(name.value) || !command.suffix.every(({ type }) => type === 'Word'))
    return undefined;
  const args = command.suffix.flatMap((word) => (word.type === 'Word' ? toArguments(word, lookup) : []));
  return programs.entryOf(name.value)?.prints?.({ args, stdin: undefined })?.replace(/\n+$/, '');
}

/** The command of a substitution, if it is a single one without assignments. */
function commandOf(text: string): Command | undefined {
  const [statement, ...others] = parse(text.replace(/^(?:\$\(|`)|[)`]$/g, '')).commands;
  const command = statement?.command;
  return command?.type === 'Command' && others.length === 0 && command.prefix.length === 0 ? command : undefined;
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

/** The variables that a text reads from its shell, as far as the text shows them. */
interface UsedVariables {
  readonly names: readonly string[];
  /** It may read others, too: positional ones, and those whose names are known only when it runs. */
  readonly hasOthers: boolean;
}

/** Most variables of one text; more count as others. */
const MAX_NAMES = 64;

/** Variables that differ at each look. */
const CHANGING: ReadonlySet<string> = new Set([
  ...['RANDOM', 'SRANDOM', 'SECONDS', 'EPOCHSECONDS', 'EPOCHREALTIME', 'LINENO', 'BASHPID', 'BASH_COMMAND', 'HISTCMD'],
  ...['BASH_SUBSHELL', 'FUNCNAME', 'PIPESTATUS'],
]);

/** `$name` and `${name…}`. */
const EXPANDED = /\$\{?#?([A-Za-z_]\w*)/g;
/** Any name: arithmetic, subscripts and tests read variables without a dollar. */
const ANY_NAME = /[A-Za-z_]\w*/g;
const READS_BARE_NAMES = /\(\(|\[|\b(?:let|declare|typeset|local|test)\b/;
/** Positional and special parameters, names of names, and texts that are made when they run. */
const READS_OTHERS = /\$\{?#?(?:\d|[@*!?_#-](?!\w))|\$\{!|\b(?:eval|source|PIPESTATUS)\b|(?:^|[\s;&|({])\.\s/;

/** Variables that matter to every expansion without quotes. */
const ALWAYS = ['IFS'] as const;

/** Finds the variables that a text reads, with those of the session's functions and aliases that it calls. */
export function findUsedVariables(
  command: string,
  { functions, aliases, areNamesUnknown }: Pick<PolicyFacts, 'functions' | 'aliases' | 'areNamesUnknown'>,
): UsedVariables {
  const text = withCalled(command, new Map([...aliases, ...functions]));
  const found = [...text.matchAll(EXPANDED)].map(([, name = '']) => name);
  if (READS_BARE_NAMES.test(text)) found.push(...[...text.matchAll(ANY_NAME)].map(([name]) => name));
  if (/\bcd\b/.test(text)) found.push('CDPATH', 'OLDPWD');
  const names = [...new Set(found)].filter((name) => !CHANGING.has(name));
  return {
    names: names.length === 0 ? [] : [...ALWAYS, ...names].slice(0, MAX_NAMES),
    hasOthers: areNamesUnknown || names.length >= MAX_NAMES || READS_OTHERS.test(text),
  };
}

/** Adds the texts of functions and aliases whose names occur in a text, and of those that these call. */
function withCalled(command: string, bodies: Map<string, string>): string {
  let text = command;
  for (const word of text.split(/[\s;&|()<>`"'{}]+/)) {
    const body = bodies.get(word);
    if (body === undefined) continue;
    bodies.delete(word);
    text += `\n${withCalled(body, bodies)}`;
  }
  return text;
}
