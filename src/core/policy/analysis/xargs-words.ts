import { type Argument, UNKNOWN, unknownArgument } from '../words/argument.js';
import { wordsOf } from '../subject/listed-files.js';
import { type CommandAnalysis } from '../subject/command-analysis.js';

/** `xargs` substitutes words for its placeholder, or appends them; `own` are its arguments without the command. */
export function addWords(
  words: readonly Argument[],
  own: readonly Argument[],
  { command, inquiry }: CommandAnalysis,
): readonly Argument[] {
  const marks = own.flatMap(({ shape }, index) => {
    const [, attached] = /^(?:-[Ii]|--replace=)(.*)$/s.exec(shape) ?? [];
    if (attached === undefined) return [];
    return [attached === '' ? (shape === '-I' ? (own[index + 1]?.shape ?? '{}') : '{}') : attached];
  });
  const [mark] = marks;
  if (mark === undefined || mark === '') return [...words, ...namesFor(words, own, { command, inquiry })];
  return words.map((word) => {
    if (!word.shape.includes(mark)) return word;
    return { ...word, shape: word.shape.replaceAll(mark, UNKNOWN), value: undefined, hasSubstitution: true };
  });
}

/** The words that `xargs` appends, as far as its input tells them. */
function namesFor(
  words: readonly Argument[],
  own: readonly Argument[],
  { command: { stdin }, inquiry }: Pick<CommandAnalysis, 'command' | 'inquiry'>,
): readonly Argument[] {
  const unknown = [unknownArgument('…')];
  if (readsFile(own)) return unknown;
  const known = wordsOf(stdin, delimiterOf(own));
  if (known) return known;
  const takesNames = stdin?.kind === 'unknown' && inquiry.programs.has(words[0]?.value ?? '', 'edits');
  return (takesNames ? stdin.names : undefined) ?? unknown;
}

/** The text between two words, if an option of `xargs` names it. */
function delimiterOf(own: readonly Argument[]): string | undefined {
  if (own.some(({ shape }) => /^(?:-[a-z]*0|--null)$/.test(shape))) return '\0';
  const at = own.findIndex(({ shape }) => /^(?:-d|--delimiter)/.test(shape));
  const value = own[at]?.shape.replace(/^(?:-d|--delimiter=?)/, '') || (own[at + 1]?.shape ?? '');
  return at === -1 ? undefined : value.replace('\\n', '\n').replace('\\0', '\0').replace('\\t', '\t');
}

const readsFile = (own: readonly Argument[]): boolean => own.some(({ shape }) => /^(?:-a|--a)/.test(shape));
