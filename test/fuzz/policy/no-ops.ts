import { parse } from 'unbash';

/** Words with which a command begins that is more than a program and its arguments, or that are read before words are unquoted. */
const KEYWORDS = new Set(
  'if then else elif fi for while until do done case esac in select function time coproc alias declare typeset local export readonly let'.split(
    ' ',
  ),
);

/** A program's name, all of it plain, and the rest of the text. */
const BEGINS_WITH_NAME = /^([a-z][a-z0-9]+)(?=\s)([^]*)$/;

/**
 * Where the text behind a wrapping is no longer the same command: an incomplete one goes on there, a here-document takes the lines
 * that follow it, a backslash joins them, and NUL ends a text.
 */
const isOpenEnded = (text: string): boolean =>
  text.includes('<<') ||
  // To bash before 5.3 a syntax error.
  /\$\{[\s|]/.test(text) ||
  text.includes('\0') ||
  /(?<!\\)(?:\\\\)*\\\s*$/.test(text) ||
  parse(text).errors !== undefined;

/** Assigns a variable, also by a builtin. The policy follows values in the outermost list alone. */
const ASSIGNS =
  /(?:^|[^\w$])[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=|\b(?:read|mapfile|readarray|for|let|cd|pushd|export|set)\b/;

/** The same command within something that has no effect. */
export function noOpsAround(text: string): readonly string[] {
  if (isOpenEnded(text)) return [];
  return [
    `{ ${text}\n}`,
    `true\n${text}`,
    `${text}\ntrue`,
    ...(ASSIGNS.test(text) ? [] : withinOthers(text)),
    ...otherNames(text),
  ];
}

const withinOthers = (text: string): readonly string[] => [
  `( ${text}\n)`,
  `true && {\n${text}\n}`,
  `if true; then\n${text}\nfi`,
  `for i in 1; do\n${text}\ndone`,
];

/** The same command with its program's name quoted, or an assignment before it. */
function otherNames(text: string): readonly string[] {
  const [, name = '', rest = ''] = BEGINS_WITH_NAME.exec(text) ?? [];
  // `name ( )` defines a function.
  if (name === '' || KEYWORDS.has(name) || /^\s*\(/.test(rest)) return [];
  const [first = '', others] = [name[0], name.slice(1)];
  return [
    `'${name}'${rest}`,
    `"${first}"${others}${rest}`,
    `${first}\\${others}${rest}`,
    `''${name}${rest}`,
    `UNUSED=1 ${text}`,
  ];
}
