import type { Context } from './context.js';

/** Formats a command line of this program, for messages. */
export type CommandLine = (words: string) => string;

/** Characters without a special meaning in any shell. */
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** Quotes a word for a shell command line. */
export const quoteWord = (word: string): string =>
  PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/**
 * Formats command lines of this program that reach the same daemon when they are pasted: they include the given `--url`
 * or `--config`, but never a token.
 */
export const commandLineFor =
  (
    { programName }: Pick<Context, 'programName'>,
    { url, config }: { readonly url?: string; readonly config?: string },
  ): CommandLine =>
  (words) => {
    const flags = [
      ...(url === undefined ? [] : [`--url ${quoteWord(url)}`]),
      ...(config === undefined ? [] : [`--config ${quoteWord(config)}`]),
    ];
    return [programName, words, ...flags].join(' ');
  };
