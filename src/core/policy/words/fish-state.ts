import { type ShellNames, UNKNOWN_NAMES } from './shell-names.js';

const FIRST_LINE = '#names';
const NAME_LINE = /^#(variable|function) (\S+)(?: (.*))?$/u;

/** Stands for the body of a function that the policy cannot read: what it runs is known only at run time. */
const UNREADABLE_BODY = '{ eval "$fish_body"; }';

/**
 * Parses the names at the start of a state that fish or pwsh has saved: exported variables, escaped as in URLs, and
 * functions, which aliases are too. What follows is text of that shell.
 */
export function readFishState(text: string): ShellNames {
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
