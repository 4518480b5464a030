import { type Argument, unknownArgument, UNKNOWN } from '../../words/argument.js';
import { baseName } from '../../paths/paths.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';

const RUNNERS = new Set(['-exec', '-execdir', '-ok', '-okdir']);
/** Programs for which acting on the found files is as severe as acting on the whole search directory. */
const REMOVERS = new Set(['rm', 'unlink', 'rmdir', 'shred', 'chmod', 'chown', 'chgrp', 'mv']);
const WRITERS = new Set(['-fprint', '-fprint0', '-fprintf', '-fls']);

/** `find`: it may delete files, write lists, and run a command on the found files. */
export function judgeFind(subject: CommandAnalysis): void {
  const { args } = subject;
  const firstTest = args.findIndex(({ shape }) => /^[-(!]/.test(shape) && !/^-[HLPDO]/.test(shape));
  const starts = (firstTest === -1 ? args : args.slice(0, firstTest)).filter(({ shape }) => !shape.startsWith('-'));
  for (const start of starts) {
    subject.read(start);
    if (start.value === undefined) subject.addUnknown(start, 'an option or start directory of find');
  }
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index];
    const name = arg?.value;
    const next = args[index + 1];
    if (name === undefined) continue;
    if (name === '-delete') judgeDeletion(subject, starts);
    else if (WRITERS.has(name) && next) subject.write(next);
    else if (name === '-files0-from') subject.add('obfuscated', 'find reads its start directories from a file');
    else if (RUNNERS.has(name)) {
      const length = args.slice(index + 1).findIndex((word, at) => isEnd(word, args[index + at]));
      const words = length === -1 ? args.slice(index + 1) : args.slice(index + 1, index + 1 + length);
      runOnEach(subject, words, starts);
      index += words.length;
    }
  }
}

const isEnd = ({ shape }: Argument, before: Argument | undefined): boolean =>
  shape === ';' || (shape === '+' && before?.shape === '{}');

function judgeDeletion(subject: CommandAnalysis, starts: readonly Argument[]): void {
  if (starts.length === 0) subject.add('destructive', 'find deletes the files that it finds');
  for (const start of starts) subject.remove(start, 'find deletes the files that it finds in', true);
}

/** `{}` stands for each found file: at or below the starting points of the search. */
function runOnEach(subject: CommandAnalysis, words: readonly Argument[], starts: readonly Argument[]): void {
  if (words[0]?.shape.includes('{}') === true) subject.addUnknown(unknownArgument('{}'), 'the program that find runs');
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

/** Tests and actions that may accompany a name test without widening the set of found files beyond that name. */
const PLAIN_TESTS = new Set(
  '-name -iname -type -maxdepth -mindepth -newer -mtime -mmin -size -path -not ! -print -print0'.split(' '),
);
/** Pattern of files of one kind, none of which is a start-up file or a hook. */
const PLAIN_KIND = /^[\w-]*\*(\.[A-Za-z]\w{0,5})$/;

/** A sample of the found files, when all have one extension and lie below one directory; undefined otherwise. */
function kindOfFound({ args, program }: CommandAnalysis, starts: readonly Argument[]): Argument | undefined {
  const [start, ...others] = starts;
  const at = args.findIndex(({ value }) => value === '-name' || value === '-iname');
  const ending = PLAIN_KIND.exec(args[at + 1]?.value ?? '')?.[1];
  const tests = args.slice(
    0,
    args.findIndex(({ value }) => RUNNERS.has(value ?? '')),
  );
  const isNegated = /^(?:!|-not)$/.test(args[at - 1]?.shape ?? '');
  const arePlain = tests.every(({ shape }) => !/^[-!(]/.test(shape) || PLAIN_TESTS.has(shape));
  if (program !== 'find' || at === -1 || ending === undefined || ending === '.sample' || isNegated || !arePlain)
    return undefined;
  if (others.length > 0 || start?.value === undefined || start.isGlob) return undefined;
  const value = `${start.value}/x${ending}`;
  return { ...start, text: '{}', value, shape: value, isSample: true, maySplit: false };
}

const FD_RUNNERS = /^(?:-[A-Za-z]*[xX]|--exec(?:-batch)?)$/;

/** `fd`: a command may follow, which runs on the found files. */
export function judgeFd(subject: CommandAnalysis): void {
  const at = subject.args.findIndex(({ shape }) => FD_RUNNERS.test(shape));
  const attached = subject.args.find(({ shape }) => /^--exec(?:-batch)?=/.test(shape));
  if (attached) subject.addUnknown(attached, 'the command that fd runs');
  if (at !== -1) runOnEach(subject, [...subject.args.slice(at + 1), unknownArgument('{}')], []);
}
