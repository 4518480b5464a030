import type { Context } from './context.js';

/** Writes a command line of this program, for messages. */
export type CommandLine = (words: string) => string;

/** Characters that no shell treats specially. */
const PLAIN_WORD = /^[\w@%+=:,./-]+$/;

/** A word as it is written in a command line of a shell. */
export const quoteWord = (word: string): string =>
  PLAIN_WORD.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/**
 * Writes command lines of this program that reach the same daemon when they are pasted: with the `--url` or `--config` that was
 * given. A token is never repeated.
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
