import { POLICY_LIMITS } from '../model/limits.js';

/** A rule that a text must meet before it is parsed, and the message when it does not. */
interface PreCheck {
  readonly test: (text: string) => boolean;
  readonly reason: string;
}

const { maxTextLength, maxBlanks, maxHereDocuments } = POLICY_LIMITS;

/** Formats, separators, fillers, and blanks that are not blanks to a shell. */
const INVISIBLE = /[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/u;

/** More blanks or empty lines in a row than a text may have. */
const PADDING = new RegExp(`[ \\t]{${maxBlanks + 1}}|\\n[ \\t]*(?:\\n[ \\t]*){${maxBlanks}}`);

/**
 * Conditions that make a text unfit to be judged. With each of these, a reader or the parser sees another command than
 * the shell.
 */
const PRE_CHECKS: readonly PreCheck[] = [
  {
    test: (text) => text.length > maxTextLength,
    reason: `the command is longer than ${maxTextLength} characters: put it into a file`,
  },
  {
    test: (text) => text.includes('\r\n'),
    reason: 'the command has Windows line ends (CR LF): end its lines with LF alone',
  },
  {
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    test: (text) => /[\x00-\x08\x0b-\x1f\x7f-\x9f]/.test(text),
    reason: 'the command has control characters: write them as escapes, as in printf',
  },
  {
    // Joiners and variation selectors of emoji are valid after other non-ASCII characters.
    test: (text) => INVISIBLE.test(text.replace(/(?<=[^\p{ASCII}])[\ufe0f\u200d]/gu, '')),
    reason: 'the command has invisible or direction-changing characters: leave them out',
  },
  {
    test: (text) => /[\ud800-\udfff]/u.test(text),
    reason: 'the command has half a character (a lone surrogate)',
  },
  {
    test: (text) => PADDING.test(text),
    reason: `the command has more than ${maxBlanks} blanks or empty lines in a row, which hides what follows`,
  },
  {
    test: (text) => text.split('<<', maxHereDocuments + 2).length > maxHereDocuments + 1,
    reason: `the command has more than ${maxHereDocuments} here-documents`,
  },
];

/** The reason why a text cannot be judged; undefined when it can be parsed. */
export function findUnfitness(text: string): string | undefined {
  return PRE_CHECKS.find(({ test }) => test(text))?.reason;
}
