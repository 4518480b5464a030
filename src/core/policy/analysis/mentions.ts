import { type AnalysisFacts, isSecret } from '../paths/path-kinds.js';
import { resolvePath } from '../paths/paths.js';

/** Most words of a text that are looked at. */
const MAX_WORDS = 512;
/** Ends of words, also within expansions: `${f:-~/.ssh/id_rsa}`. */
const SEPARATORS = /[\s;&|()<>=`]+|:[-=+?]|(?<!\w):|\$\{\w+|[{},]+(?=[~/.])|[{}]+$/;

/** Where words may end as well: at braces and commas. */
const ALL_SEPARATORS = /[\s;&|()<>=`{},:]+/;

/**
 * Finds a word in a text that is the path of a file with credentials. Variables and braces in it stand for any name. The
 * words of nested texts are found, too.
 */
export function findMentionedSecret(text: string, facts: AnalysisFacts): string | undefined {
  const plain = text.replaceAll(/["'\\]/g, '').replaceAll(/\$\{?HOME[^}/\s]*\}?/g, '~');
  const words = [...plain.split(SEPARATORS), ...plain.split(ALL_SEPARATORS)];
  return words.slice(0, MAX_WORDS).find((word) => isSecretWord(word, facts));
}

function isSecretWord(word: string, facts: AnalysisFacts): boolean {
  const pattern = word.replaceAll(/\{[^}]*\}|\$\w+/g, '*').replace(/[{}]+$/, '');
  if (!/[A-Za-z]{2}|^\.[A-Za-z]/.test(pattern) || /^-/.test(pattern)) return false;
  const path = pattern
    .replace(/^~(?=\/|$)/, facts.home ?? '/home/any')
    .replace(/^~(\w+)/, '/home/$1')
    .replace(/^~\+/, '.');
  const isGlob = /[*?[]/.test(path);
  return resolvePath(path, facts.directories).some((place) => place !== undefined && isSecret(place, facts, isGlob));
}
