import type { Level, Values } from './levels.js';

/** Quotes a text with single quotes, in the same way for all three shells; quotes and backslashes are removed. */
export const quote = (text: string): string => `'${text.replaceAll(/['\\]/g, '')}'`;

/** Converts a path to the form that the scripts compare. */
export const nameOf = (path: string): string => path.replaceAll(' ', '_');

/** Path of the words that belong to another program: the operands of `exec` and `check`. */
export const OTHER_PROGRAM = '-';

/**
 * Renders `case` lines that follow the words of the command line to the innermost command; `skip` marks an option whose
 * value is the next word.
 */
export function walkCases(levels: readonly Level[]): string[] {
  return levels.flatMap(({ path, subcommands, flags, operands }) => {
    const prefix = nameOf(path);
    const withValue = flags.flatMap(({ names, values }) => (values === undefined ? [] : names));
    return [
      ...subcommands
        .filter(({ name }) => name !== 'help')
        .map(({ name }) => `      ${quote(`${prefix}|${name}`)}) path=${quote(nameOf(`${path} ${name}`.trim()))} ;;`),
      ...(withValue.length === 0
        ? []
        : [`      ${withValue.map((name) => quote(`${prefix}|${name}`)).join('|')}) skip=1 ;;`]),
      ...(operands === 'command' ? [`      ${quote(`${prefix}|`)}[!-]*) path=${quote(OTHER_PROGRAM)} ;;`] : []),
    ];
  });
}

/** Renders `case` lines for the value of the option before the cursor. */
export const valueCases = (levels: readonly Level[], complete: (values: Values) => string): string[] =>
  levels.flatMap(({ path, flags }) =>
    flags.flatMap(({ names, values }) =>
      values === undefined
        ? []
        : [`    ${names.map((name) => quote(`${nameOf(path)}|${name}`)).join('|')}) ${complete(values)}; return ;;`],
    ),
  );
