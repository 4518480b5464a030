import { type Argument, literal, type Stdin } from '../words/argument.js';
import type { CommandAnalysis } from './command-analysis.js';
import { parseArguments, tailOf } from './options.js';
import { each, valued } from './program-spec.js';

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

/** A directory with a plain name below the current one: not hidden, so that a repository's own files are excluded. */
const PLAIN_DIRECTORY = /^(?:\.\/)?[A-Za-z0-9_][\w-]*(?:\/[A-Za-z0-9_][\w-]*)*\/?$/;

/** A pattern for files of one kind. */
const ONE_KIND = /^[\w-]*\*\.\w{1,6}$/;

/** Options of grep, and of programs like it. */
export const GREP_OPTIONS = {
  ...valued(
    '-e -f -A -B -C -m -d -D --regexp --file --include --exclude --exclude-dir --max-count -g -t --glob --type',
  ),
  ...each('-l --files-with-matches -L --files-without-match', {}),
};

/**
 * Samples of the file names that a program with the options of grep prints; undefined where it may print names other
 * than those of files in plain directories or of one kind. xargs splits names with blanks; the parts are still below
 * the same directories.
 *
 * @param leavesHidden whether the program skips hidden directories
 */
export function listedByGrep(args: readonly Argument[], leavesHidden: boolean): readonly Argument[] | undefined {
  const { options, operands, doubtful } = parseArguments(args, GREP_OPTIONS);
  const has = (...names: readonly string[]) => options.filter(({ name }) => names.includes(name));
  if (doubtful.some((argument) => argument.maySplit)) return undefined;
  if (has('-l', '--files-with-matches', '-L', '--files-without-match').length === 0) return undefined;
  const hasPattern = has('-e', '-f', '--regexp', '--file').length > 0;
  const places = operands.slice(hasPattern ? 0 : 1).map(({ value }) => value);
  const kinds = has('--include').map(({ value }) => value?.value ?? '');
  const isOneKind = kinds.length > 0 && kinds.every((kind) => ONE_KIND.test(kind));
  const isHere = (place: string | undefined) => place === '.' || place === './';
  const isPlain = (place: string | undefined) =>
    place !== undefined && (PLAIN_DIRECTORY.test(place) || (isHere(place) && (leavesHidden || isOneKind)));
  if (!places.every(isPlain) || (places.length === 0 && !leavesHidden && !isOneKind)) return undefined;
  const names = places.length === 0 ? ['x'] : places.map((place = '') => `${place.replace(/\/$/, '')}/x`);
  return names.map((name) => ({ ...literal(name, '…'), isSample: true }));
}

/**
 * Judges arguments, or the part after their first equals sign, that resemble a command: `CC='rm x'`, `-exec='rm x'`.
 */
export function judgeGivenTexts(subject: CommandAnalysis): void {
  const label = subject.program ?? 'it';
  for (const arg of subject.args) {
    const equals = arg.shape.indexOf('=');
    for (const text of equals === -1 ? [arg] : [arg, tailOf(arg, equals + 1)]) {
      if (subject.inquiry.programs.isRunnable(/^(\S+)\s/.exec(text.shape)?.[1] ?? '')) subject.runText(text, label);
    }
  }
}
