import { baseName } from '../paths.js';
import type { CommandAnalysis } from '../subject/command-analysis.js';
import { readsFiles } from '../subject/listed-files.js';
import { parseArguments } from '../subject/options.js';
import type { ProgramCall, ProgramSpec } from '../subject/program-spec.js';
import { type Argument, type ListedBelow, literal, UNKNOWN, unknownArgument } from '../words/argument.js';

const RUNNERS = new Set(['-exec', '-execdir', '-ok', '-okdir']);
/** Programs for which acting on the found files is as severe as acting on the whole search directory. */
const REMOVERS = new Set(['rm', 'unlink', 'rmdir', 'shred', 'chmod', 'chown', 'chgrp', 'mv']);
const WRITERS = new Set(['-fprint', '-fprint0', '-fprintf', '-fls']);

/** `find`: it may delete files, write lists, and run a command on the found files. */
export function judgeFind(subject: CommandAnalysis): void {
  const { args } = subject;
  const starts = startsOf(args);
  for (const start of starts) {
    subject.read(start);
    if (start.value === undefined) subject.addUnknown(start, 'an option or start directory of find');
  }
  for (let index = 0; index < args.length; index += 1) {
    const name = args[index]?.value;
    if (name !== undefined && RUNNERS.has(name)) {
      const words = wordsOfRunner(args, index + 1);
      runOnEach(subject, words, starts);
      index += words.length;
    } else if (name !== undefined) judgeAction(subject, name, args[index + 1], starts);
  }
}

/** The directories in which the search starts: the operands before the first test. */
function startsOf(args: readonly Argument[]): readonly Argument[] {
  const firstTest = args.findIndex(({ shape }) => /^[-(!]/.test(shape) && !/^-[HLPDO]/.test(shape));
  return (firstTest === -1 ? args : args.slice(0, firstTest)).filter(({ shape }) => !shape.startsWith('-'));
}

function judgeAction(
  subject: CommandAnalysis,
  name: string,
  next: Argument | undefined,
  starts: readonly Argument[],
): void {
  if (name === '-delete') judgeDeletion(subject, starts);
  else if (WRITERS.has(name) && next) subject.write(next);
  else if (name === '-files0-from') subject.does('reads its start directories from a file');
}

/** The command that an action runs: the words up to its end mark. */
function wordsOfRunner(args: readonly Argument[], from: number): readonly Argument[] {
  const words = args.slice(from);
  const length = words.findIndex((word, at) => isEnd(word, args[from + at - 1]));
  return length === -1 ? words : words.slice(0, length);
}

const isEnd = ({ shape }: Argument, before: Argument | undefined): boolean =>
  shape === ';' || (shape === '+' && before?.shape === '{}');

function judgeDeletion(subject: CommandAnalysis, starts: readonly Argument[]): void {
  if (starts.length === 0) subject.does('deletes the files that it finds');
  for (const start of starts) subject.remove(start, 'find deletes the files that it finds in', true);
}

/** `{}` stands for each found file: at or below the starting points of the search. */
function runOnEach(subject: CommandAnalysis, words: readonly Argument[], starts: readonly Argument[]): void {
  if (words[0]?.shape.includes('{}') === true) subject.addUnknown(unknownArgument('{}'), 'the program that find runs');
  judgeReadings(subject, words, starts);
  const [start] = starts;
  const found: Argument =
    start?.value === undefined ? unknownArgument('{}') : { ...start, text: '{}', maySplit: false };
  const kind = kindOfFound(subject, starts);
  const isDeep = REMOVERS.has(baseName(words[0]?.value ?? ''));
  const filled = words.map((word) => {
    if (word.shape === '{}')
      return isDeep && start?.value !== undefined ? found : (kind ?? { ...unknownArgument('{}'), maySplit: false });
    if (!word.shape.includes('{}')) return word;
    return { ...word, shape: word.shape.replaceAll('{}', UNKNOWN), value: undefined };
  });
  subject.runWords(filled);
}

/** The program reads the found files, wherever they are below the starting points of the search. */
function judgeReadings(subject: CommandAnalysis, words: readonly Argument[], starts: readonly Argument[]): void {
  if (!readsFiles(subject, words[0])) return;
  for (const start of starts) subject.readTree(start, { names: namesSought(subject.args) });
}

/** Patterns of the names for which a search looks; none when it finds others as well. */
function namesSought(args: readonly Argument[]): readonly string[] {
  const isWide = args.some(({ shape }) => /^(?:-o|-or|!|-not|,)$/.test(shape));
  const at = args.findIndex(({ value }) => value === '-name' || value === '-iname');
  const name = args[at + 1]?.value;
  return at === -1 || isWide || name === undefined ? [] : [name];
}

export const foundBelow = (args: readonly Argument[]): ListedBelow => ({
  places: startsOf(args),
  patterns: namesSought(args),
});

/** Tests and actions that may accompany a name test without widening the set of found files beyond that name. */
const PLAIN_TESTS = new Set(
  '-name -iname -type -maxdepth -mindepth -newer -mtime -mmin -size -path -not ! -print -print0'.split(' '),
);
/** Pattern of files of one kind, none of which is a start-up file or a hook. */
const PLAIN_KIND = /^[\w-]*\*(\.[A-Za-z]\w{0,5})$/;

/** A sample of the found files, when all have one extension and lie below one directory; undefined otherwise. */
function kindOfFound({ args, program }: CommandAnalysis, starts: readonly Argument[]): Argument | undefined {
  const [start, ...others] = starts;
  const ending = endingOfFound(args);
  if (program !== 'find' || ending === undefined) return undefined;
  if (others.length > 0 || start?.value === undefined || start.isGlob) return undefined;
  const value = `${start.value}/x${ending}`;
  return { ...start, text: '{}', value, shape: value, isSample: true, maySplit: false };
}

/** The extension that all found files have, if the tests of a search say so. */
function endingOfFound(args: readonly Argument[]): string | undefined {
  const at = args.findIndex(({ value }) => value === '-name' || value === '-iname');
  if (at === -1) return undefined;
  const ending = PLAIN_KIND.exec(args[at + 1]?.value ?? '')?.[1];
  const isNegated = /^(?:!|-not)$/.test(args[at - 1]?.shape ?? '');
  return ending === '.sample' || isNegated || !hasPlainTests(args) ? undefined : ending;
}

/** Whether no test or action before the command widens the set of found files. */
function hasPlainTests(args: readonly Argument[]): boolean {
  const tests = args.slice(
    0,
    args.findIndex(({ value }) => RUNNERS.has(value ?? '')),
  );
  return tests.every(({ shape }) => !/^[-!(]/.test(shape) || PLAIN_TESTS.has(shape));
}

const FD_RUNNERS = /^(?:-[A-Za-z]*[xX]|--exec(?:-batch)?)$/;

/** `fd`: a command may follow, which runs on the found files. */
export function judgeFd(subject: CommandAnalysis, _call: ProgramCall, { options: known = {} }: ProgramSpec): void {
  const at = subject.args.findIndex(({ shape }) => FD_RUNNERS.test(shape));
  const attached = subject.args.find(({ shape }) => /^--exec(?:-batch)?=/.test(shape));
  if (attached) subject.addUnknown(attached, 'the command that fd runs');
  if (at === -1) return;
  const words = subject.args.slice(at + 1);
  const { operands, options } = parseArguments(subject.args.slice(0, at), known);
  const [pattern, ...starts] = operands;
  const endings = options.flatMap(({ name, value }) =>
    /^(?:-e|--extension)$/.test(name) && value ? [value.shape] : [],
  );
  const names = endings.length > 0 ? endings.map((ending) => `*.${ending}`) : pattern?.value === '.' ? [] : [pattern];
  const sought = names.map((name) => (typeof name === 'string' ? name : `*${name?.shape ?? ''}*`));
  if (readsFiles(subject, words[0]))
    for (const start of starts.length > 0 ? starts : [literal('.')]) subject.readTree(start, { names: sought });
  runOnEach(subject, [...words, unknownArgument('{}')], []);
}
