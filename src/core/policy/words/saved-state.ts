import { type Command, parse, type Statement } from 'unbash';

import type { PolicyFacts } from '../model.js';
import type { AnalysisContext } from './analysis-context.js';
import { toArguments } from './argument.js';

/** Names in the saved state of a shell. */
export interface ShellNames {
  readonly aliases: ReadonlyMap<string, string>;
  /** Functions with their bodies. */
  readonly functions: ReadonlyMap<string, string>;
  readonly variables: ReadonlyMap<string, string>;
  /** The list lacks some names of the shell. */
  readonly isIncomplete: boolean;
}

/** Names of a shell whose state is unknown. */
export const UNKNOWN_NAMES: ShellNames = {
  aliases: new Map(),
  functions: new Map(),
  variables: new Map(),
  isIncomplete: true,
};

const FIRST_LINE = '#names';
const NAME_LINE = /^#(variable|function) (\S+)(?: (.*))?$/u;

/** Stands for the body of a function that the policy cannot read: what it runs is known only at run time. */
const UNREADABLE_BODY = '{ eval "$fish_body"; }';

/**
 * Parses the names at the start of a state that fish or pwsh has saved: exported variables, escaped as in URLs, and
 * functions, which aliases are too. What follows is text of that shell.
 */
function readFishState(text: string): ShellNames {
  const [first, ...lines] = text.split('\n');
  if (first !== FIRST_LINE) return UNKNOWN_NAMES;
  const variables = new Map<string, string>();
  const functions = new Map<string, string>();
  for (const line of lines) {
    const [, kind, name = '', value = ''] = NAME_LINE.exec(line) ?? [];
    if (kind === undefined) break;
    if (kind === 'function') functions.set(name, UNREADABLE_BODY);
    else variables.set(name, unescaped(value));
  }
  return { aliases: new Map(), functions, variables, isIncomplete: false };
}

function unescaped(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    // Its bytes are not text.
    return value;
  }
}

/** Longest state that is parsed, in UTF-16 units. */
const MAX_STATE_LENGTH = 512 * 1024;

/** Functions of the adapter itself: they are not queried from a shell. */
const OWN_FUNCTION = /^(?:__sa_\w+|exit|bye)$/;

/**
 * Whether a function in a text has a name reserved for the adapter, so that the shell's later reports would not show
 * it.
 */
export const isOwnFunction = (name: string): boolean => OWN_FUNCTION.test(name);

interface Draft {
  readonly aliases: Map<string, string>;
  readonly functions: Map<string, string>;
  readonly variables: Map<string, string>;
  isIncomplete: boolean;
}

/**
 * Parses the state that a shell has printed: `export -p`, its functions, and its aliases. Unreadable parts make it
 * incomplete: see `PolicyFacts.areNamesUnknown`.
 */
export function readSavedState(text: string, shell: 'bash' | 'zsh' | 'sh' | 'fish' | 'pwsh'): ShellNames {
  // A POSIX shell cannot list its functions.
  const draft: Draft = { aliases: new Map(), functions: new Map(), variables: new Map(), isIncomplete: shell === 'sh' };
  if (text.length > MAX_STATE_LENGTH) return UNKNOWN_NAMES;
  if (shell === 'fish' || shell === 'pwsh') return readFishState(text);
  for (const part of shell === 'zsh' ? splitZsh(text) : [text]) readPart(part, draft);
  return draft;
}

/** A line of a shown variable: its name, the length of its value, and the quoted value. */
const SHOWN = /^#value (\w+) (\d+) (.*)$/;

export interface ShownVariable {
  /** As the shell quotes it, with its length: differs whenever the value does. */
  readonly text: string;
  /** Undefined when it is not one plain text. */
  readonly value: string | undefined;
}

/**
 * Reads the variables that a state shows at its start; those that are not set are left out. Undefined when the state
 * shows none.
 */
export function readShownVariables(state: string): ReadonlyMap<string, ShownVariable> | undefined {
  const [first = '', ...lines] = state.split('\n');
  if (!first.startsWith('#values ')) return undefined;
  const shown = new Map<string, ShownVariable>();
  for (const line of lines) {
    const [, name = '', length = '', quoted = ''] = SHOWN.exec(line) ?? [];
    if (name === '') break;
    shown.set(name, { text: `${length} ${quoted}`, value: unquote(quoted, Number(length)) });
  }
  return shown;
}

function unquote(quoted: string, length: number): string | undefined {
  const [statement, ...others] = parse(`_=${quoted}`).commands;
  if (statement?.command.type !== 'Command' || others.length > 0) return undefined;
  const [assignment] = statement.command.prefix;
  const [, value = ''] = assignment?.type === 'Assignment' ? readAssignment(assignment) : [];
  return value.length === length ? value : undefined;
}

function readPart(text: string, draft: Draft): void {
  const script = parse(text);
  if (script.errors) draft.isIncomplete = true;
  for (const statement of script.commands) readStatement(statement, text, draft);
}

function readStatement({ command }: Statement, text: string, draft: Draft): void {
  if (command.type === 'Function') {
    const { name, body } = command;
    if (!OWN_FUNCTION.test(name.value)) draft.functions.set(name.value, text.slice(body.pos, body.end));
  } else if (command.type === 'Command') readCommand(command, draft);
  else draft.isIncomplete = true;
}

function readCommand(command: Command, draft: Draft): void {
  const name = command.name?.value ?? '';
  if (name === '__sa_take_aliases') readTakenAliases(command, draft);
  else if (name === 'alias' || DECLARATIONS.has(name)) {
    readTied(command, draft);
    for (const arg of command.args) {
      const [word, value] = arg.type === 'Assignment' ? readAssignment(arg) : splitWord(arg.value);
      if (name === 'alias') addAlias(word, value, draft);
      else if (value !== undefined) draft.variables.set(word, value);
    }
  }
}

/** The words with which shells print variables. */
const DECLARATIONS = new Set(['declare', 'export', 'typeset']);

/** The adapter's own function for the aliases of a POSIX shell, which gets them as a here-document of indented lines. */
function readTakenAliases({ redirects }: Command, draft: Draft): void {
  for (const redirect of redirects) {
    if (redirect.type === 'HereDoc') readAliasLines(redirect.body.text.replaceAll(/^ /gmu, ''), draft);
  }
}

/** An alias, or an option of `alias`. The alias `exit` is the adapter's own. */
function addAlias(word: string, value: string | undefined, draft: Draft): void {
  // Global and suffix aliases of zsh replace words in any position.
  if (/^-[A-Za-z]*[gs]/.test(word)) draft.isIncomplete = true;
  if (value !== undefined && word !== 'exit') draft.aliases.set(word, value);
}

/**
 * `export -rUT PATH path=( /usr/bin /bin )`, followed by the separator if it is not a colon: zsh ties a variable to an
 * array.
 */
function readTied({ args: [flag, name, array, separator] }: Command, draft: Draft): void {
  const isTied = flag?.type === 'Word' && /^-[A-Za-z]*T$/.test(flag.value);
  if (!isTied || name?.type !== 'Word') return;
  const values = elementsOf(array);
  if (values) draft.variables.set(name.value, values.join(separator?.type === 'Word' ? separator.value : ':'));
}

/** The elements of an assigned array; undefined unless all of them are known. */
function elementsOf(array: Command['args'][number] | undefined): readonly string[] | undefined {
  if (array?.type !== 'Assignment' || array.value.type !== 'ArrayValue') return undefined;
  const values = array.value.elements.map((element) => toArguments(element, () => undefined)[0]?.value);
  return values.every((value) => value !== undefined) ? values : undefined;
}

function readAssignment({
  name,
  value,
}: Extract<Command['args'][number], { type: 'Assignment' }>): readonly [string, string?] {
  const [argument] = value.type === 'Word' ? toArguments(value, () => undefined) : [];
  return argument?.value === undefined ? [name] : [name, argument.value];
}

function splitWord(word: string): readonly [string, string?] {
  const equals = word.indexOf('=');
  return equals > 0 ? [word.slice(0, equals), word.slice(equals + 1)] : [word];
}

/**
 * `name='value'` in lines, as dash prints them: parsed as assignments, unless the name is not a valid variable name.
 */
function readAliasLines(text: string, draft: Draft): void {
  const script = parse(text);
  if (script.errors) draft.isIncomplete = true;
  for (const { command } of script.commands) {
    if (command.type !== 'Command' || command.name) {
      draft.isIncomplete = true;
      continue;
    }
    for (const part of command.prefix) {
      const [name, value] = part.type === 'Assignment' ? readAssignment(part) : [''];
      if (value !== undefined && name !== 'exit') draft.aliases.set(name, value);
    }
  }
}

/**
 * zsh functions may use zsh syntax: each is parsed separately, so that one parse failure hides no other function. The
 * adapter's own functions are omitted.
 */
function splitZsh(text: string): readonly string[] {
  return text.split(/\n(?=\S.* \(\) \{$|alias )/m).filter((part) => !/^__sa_\w+ \(\) \{/.test(part));
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

/** Whether the name of a program may have another meaning in the session or the text: an alias, a function, a file. */
export function isOwnName(name: string, inquiry: AnalysisContext): boolean {
  const { facts } = inquiry;
  if (facts.areNamesUnknown || facts.isPathChanged) return true;
  return inquiry.findAlias(name) !== undefined || inquiry.bodyOf(name, true) !== '';
}

/** The texts that a name runs in the session, of an alias or a function; undefined when the names are not known. */
export function textsOf(name: string, inquiry: AnalysisContext): readonly string[] | undefined {
  if (inquiry.facts.areNamesUnknown) return undefined;
  return [inquiry.findAlias(name) ?? '', inquiry.bodyOf(name, true)].filter((text) => text !== '');
}
