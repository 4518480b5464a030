import { stripAnsi } from './ansi.js';
import { collapseCr } from './collapse-cr.js';

/**
 * The unfinished line at the end of an output, such as the prompt of a program that waits for input, as a terminal
 * shows it: without escape sequences, limited to the last `maxCharacters` code points. Empty after a line feed.
 */
export function lastLine(text: string, maxCharacters: number): string {
  const shown = stripAnsi(collapseCr(text.slice(text.lastIndexOf('\n') + 1)));
  if (shown.length <= maxCharacters) return shown;
  // A character has at most two code units, so the result lies within this many.
  const characters = Array.from(shown.slice(Math.max(0, shown.length - 2 * maxCharacters)));
  return characters.slice(Math.max(0, characters.length - maxCharacters)).join('');
}
