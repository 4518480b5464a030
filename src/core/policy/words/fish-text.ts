import type { PolicyFacts } from '../model.js';

/**
 * What fish and POSIX shells read alike: words, quotes without escapes, variables, `*`, lists, pipelines, and
 * redirections to files. Anything else has another meaning in fish, or is not known to have the same.
 */
const COMMON = new RegExp(
  [
    String.raw`[\w ./:,=+@%~\t\n-]`,
    String.raw`\*(?!\*)`,
    String.raw`;|\|\||\|(?!&)`,
    // Inside of a word, fish reads an ampersand as a character.
    String.raw`(?<=\s)&&?(?=\s|$)`,
    String.raw`>&[12](?!\w)|>>?(?![>&|?(])|<(?![<&>?(])`,
    String.raw`'[^'\\]*'`,
    String.raw`"(?:[^"\\$${'`'}]|\$[A-Za-z_]\w*(?!\[))*"`,
    String.raw`\$[A-Za-z_]\w*(?![\w[($])`,
  ].join('|'),
  'uy',
);

/** Keywords of fish, and commands whose meaning in a POSIX shell is another one, or that change what names mean. */
const FISH_WORDS = new Set(
  [
    'if else end while for in function switch case begin and or not return set eval source . read test [ time',
    'abbr alias bind block breakpoint commandline complete emit functions history status trap argparse',
    'cdh dirh nextd prevd pushd popd fish funced funcsave vared suspend builtin',
  ]
    .join(' ')
    .split(' '),
);

/** Words that stand before a command in fish. */
const BEFORE_COMMAND = /^(?:(?:begin|if|else|while|and|or|not|!|time|then|do|builtin|command|exec)\s+)+/u;

/** The reason why a text of fish cannot be read as one of a POSIX shell; undefined when it can. */
function findFishSyntax(text: string): string | undefined {
  COMMON.lastIndex = 0;
  let at = 0;
  while (at < text.length) {
    if (!COMMON.test(text)) return `the policy cannot read this part of a text for fish: ${text.slice(at, at + 40)}`;
    at = COMMON.lastIndex;
  }
  const word = commandWords(text).find((each) => FISH_WORDS.has(each) || each.startsWith('fish_'));
  return word === undefined ? undefined : `the policy cannot judge this word of fish: ${word}`;
}

/** The first words of the commands in a text of the common kind. */
const commandWords = (text: string): readonly string[] =>
  text
    .replaceAll(/'([^']*)'|"([^"]*)"/gu, (_, single: string | undefined, double: string | undefined) =>
      (single ?? double ?? '').replaceAll(/[^\w./-]/gu, '_'),
    )
    .replaceAll(/\d?[<>]+&?\s*\S+/gu, ' ')
    .split(/[\n;|&]/u)
    .map((part) => /^\s*(?:\w+=\S*\s+)*(\S*)/u.exec(part)?.[1] ?? '');

/** The texts within a text of fish that may be commands; each of them alone is read as by a POSIX shell. */
export const commandsInFish = (text: string): readonly string[] =>
  [...new Set(text.split(/[\n;|&()]/u).map((part) => part.trim().replace(BEFORE_COMMAND, '')))].filter(Boolean);

/** The reason why a text of a session's shell cannot be read as one of a POSIX shell; undefined when it can. */
export function whyForeign(text: string, shell: PolicyFacts['shell']): string | undefined {
  if (shell === 'fish') return findFishSyntax(text);
  // Names mean something else in it: `del` and `ri` remove files.
  return shell === 'pwsh' ? 'the policy cannot read PowerShell' : undefined;
}
