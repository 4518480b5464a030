import { type Argument, literal } from '../words/argument.js';
import type { Stdin } from '../words/simple-command.js';
import type { CommandAnalysis } from './command-analysis.js';

/** Most names in an input that are looked at one by one. */
const MAX_NAMES = 64;

/**
 * The words of an input that is known, as `xargs` splits it; undefined for another one, or for one with quotes.
 * @param delimiter separates words in place of blanks and quotes
 */
export function wordsOf(stdin: Stdin | undefined, delimiter?: string): readonly Argument[] | undefined {
  if (stdin?.kind !== 'text' || !stdin.isCertain) return undefined;
  if (delimiter === undefined && /["'\\]/.test(stdin.text)) return undefined;
  const words = stdin.text.split(delimiter ?? /[\s\0]+/).filter((word) => word !== '');
  return words.length > MAX_NAMES ? undefined : words.map((word) => literal(word));
}

/** Whether a program that is given names of files reads their content. */
export function readsFiles({ inquiry: { programs } }: CommandAnalysis, program: Argument | undefined): boolean {
  const name = programs.plainName(program?.value ?? '');
  return !programs.has(name, 'metadata') && !programs.has(name, 'unread');
}

/** Judges the reading of the files that the input names. */
export function readNamedFiles(subject: CommandAnalysis): void {
  const { stdin } = subject.command;
  for (const file of wordsOf(stdin) ?? []) subject.read(file);
  if (stdin?.kind !== 'unknown' || !stdin.below) return;
  for (const place of stdin.below.places) subject.readTree(place, { names: stdin.below.patterns });
}
