import { AdapterError } from './errors.js';

const ESC = '\x1b';

/** Keys with a text of their own, as xterm sends them. */
const NAMED: { readonly [name: string]: string } = {
  Enter: '\r',
  Tab: '\t',
  Escape: ESC,
  Space: ' ',
  Backspace: '\x7f',
  'S-Tab': `${ESC}[Z`,
};

/** Final characters of the keys that move the cursor. */
const CURSOR: { readonly [name: string]: string } = { Up: 'A', Down: 'B', Right: 'C', Left: 'D', Home: 'H', End: 'F' };

/** Final characters of the function keys whose sequence begins as those of the cursor keys. */
const FUNCTION: { readonly [name: string]: string } = { F1: 'P', F2: 'Q', F3: 'R', F4: 'S' };

/** Numbers of the other keys: `CSI number ~`. */
const NUMBERED: { readonly [name: string]: number } = {
  ...{
    Insert: 2,
    Delete: 3,
    PageUp: 5,
    PageDown: 6,
    F5: 15,
    F6: 17,
    F7: 18,
    F8: 19,
    F9: 20,
    F10: 21,
    F11: 23,
    F12: 24,
  },
};

const ALIASES: { readonly [name: string]: string } = {
  Esc: 'Escape',
  Return: 'Enter',
  PgUp: 'PageUp',
  PgDn: 'PageDown',
};

/** Names of keys, without modifiers. */
export const KEY_NAMES: readonly string[] = [
  ...Object.keys(NAMED).filter((name) => name !== 'S-Tab'),
  ...[CURSOR, FUNCTION, NUMBERED].flatMap(Object.keys),
];

/** What each modifier adds to the parameter of a sequence. Source: xterm, "PC-Style Function Keys". */
const MODIFIERS: { readonly [prefix: string]: number } = { S: 1, M: 2, C: 4 };

/** Whether the sequence of a key depends on the mode of the terminal. */
export const dependsOnMode = (key: string): boolean => Object.hasOwn(CURSOR, ALIASES[key] ?? key);

/**
 * What a terminal sends for a key: a character, a name such as `Up` or `F5`, each with modifiers in front: `C-c`, `M-x`, `C-Left`.
 * @param isApplication whether the program has asked for the application mode of cursor keys
 * @throws AdapterError INVALID_REQUEST for an unknown key
 */
export function sequenceOf(key: string, isApplication: boolean): string {
  const [, prefix = '', last = ''] = /^((?:[SMC]-)*)([^]+)$/u.exec(key) ?? [];
  const name = ALIASES[last] ?? last;
  const sequence = NAMED[prefix + name] ?? modified(name, new Set(prefix.split('-').filter(Boolean)), isApplication);
  if (sequence !== undefined) return sequence;
  throw new AdapterError(
    'INVALID_REQUEST',
    `send_input: keys: there is no key ${JSON.stringify(key)}; keys are single characters, ${KEY_NAMES.join(', ')}, and these after C-, M- or S-`,
    { details: { field: 'keys', key } },
  );
}

function modified(name: string, modifiers: ReadonlySet<string>, isApplication: boolean): string | undefined {
  const parameter = 1 + [...modifiers].reduce((sum, modifier) => sum + (MODIFIERS[modifier] ?? 0), 0);
  const number = NUMBERED[name];
  if (number !== undefined) return `${ESC}[${number}${parameter > 1 ? `;${parameter}` : ''}~`;
  const final = CURSOR[name] ?? FUNCTION[name];
  if (final === undefined) return modifiedText(NAMED[name] ?? name, modifiers);
  if (parameter > 1) return `${ESC}[1;${parameter}${final}`;
  return `${ESC}${isApplication || final in { P: 0, Q: 0, R: 0, S: 0 } ? 'O' : '['}${final}`;
}

/** A character with modifiers: Ctrl makes a control character of it, Alt puts an escape in front. */
function modifiedText(text: string, modifiers: ReadonlySet<string>): string | undefined {
  if (!/^.$/su.test(text)) return undefined;
  const shifted = modifiers.has('S') ? text.toUpperCase() : text;
  const character = modifiers.has('C') ? controlOf(shifted) : shifted;
  return character === undefined ? undefined : (modifiers.has('M') ? ESC : '') + character;
}

/** The control character of a key; undefined for a key that has none. */
function controlOf(character: string): string | undefined {
  if (character === ' ') return '\0';
  if (character === '?') return '\x7f';
  return /^[@-_a-z]$/.test(character) ? String.fromCharCode(character.toUpperCase().charCodeAt(0) & 0x1f) : undefined;
}
