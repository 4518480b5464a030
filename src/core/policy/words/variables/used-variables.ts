import type { PolicyFacts } from '../../model/facts.js';

/** The variables that a text reads from its shell, as far as the text shows them. */
export interface UsedVariables {
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
