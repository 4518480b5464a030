import type { Level, Values } from './levels.js';

/** A text in single quotes: the same in all three shells, as long as it has no quote and no backslash. */
export const quote = (text: string): string => `'${text.replaceAll(/['\\]/g, '')}'`;

/** A path as it is compared in scripts. */
export const nameOf = (path: string): string => path.replaceAll(' ', '_');

/** Stands for the words of a command line that belong to another program: the operands of `exec` and `check`. */
export const OTHER_PROGRAM = '-';

/** `case` lines that follow the words of the command line down to the innermost command; `next` is what to do with a value. */
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

/** `case` lines for the value of the option before the cursor. */
export const valueCases = (levels: readonly Level[], complete: (values: Values) => string): string[] =>
  levels.flatMap(({ path, flags }) =>
    flags.flatMap(({ names, values }) =>
      values === undefined
        ? []
        : [`    ${names.map((name) => quote(`${nameOf(path)}|${name}`)).join('|')}) ${complete(values)}; return ;;`],
    ),
  );
