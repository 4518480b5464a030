import { isTrustedPlace } from '../path-kinds.js';
import { baseName, resolvePath } from '../paths.js';
import { type Argument, literal } from '../words/argument.js';
import type { CommandAnalysis } from './command-analysis.js';
import type { ProgramCall } from './program-spec.js';

/** The files that a command copies, moves or links, and where they go. */
export interface Copies {
  readonly sources: readonly Argument[];
  /** A directory, or a name; undefined when the command names none. */
  readonly target: Argument | undefined;
}

/** The sources and the target of a call: an option with the role `into`, or the last of several operands. */
export function copiesOf({ options, operands }: Pick<ProgramCall, 'options' | 'operands'>): Copies {
  const target = options.findLast(({ spec }) => spec?.value === 'into')?.value;
  if (target !== undefined || operands.length < 2) return { sources: operands, target };
  return { sources: operands.slice(0, -1), target: operands.at(-1) };
}

/** Judges a program that copies or moves its operands. */
export function judgeCopies(subject: CommandAnalysis, call: ProgramCall): void {
  const { sources, target } = copiesOf(call);
  for (const source of sources) subject.read(source);
  if (target) judgeInto(subject, target, sources, true);
}

/**
 * Judges where files go: to a name, or into a directory under their own names, which may be those of files that run or
 * are trusted later.
 * @param mayBeTree whether a directory may get the name of the target
 */
export function judgeInto(
  subject: CommandAnalysis,
  target: Argument,
  sources: readonly Argument[],
  mayBeTree: boolean,
): void {
  subject.write(target);
  if (mayBeTree) judgePlace(subject, target);
  for (const source of sources) {
    // The name of a file on another machine may follow a colon.
    const name = source.value === undefined ? '' : baseName(source.value.replace(/\/+$/, '')).replace(/^.*:/, '');
    if (name !== '') judgePlace(subject, below(target, { ...source, shape: name, value: name }));
  }
}

/** Judges the files that are unpacked from an archive: their names, where these are given, and what renames them. */
export function judgeMembers(
  subject: CommandAnalysis,
  { options }: Pick<ProgramCall, 'options'>,
  members: readonly Argument[],
): void {
  const directory = options.findLast(({ spec }) => spec?.value === 'into')?.value ?? literal('.');
  subject.write(directory);
  const renamed = options.flatMap(({ spec, value }) =>
    spec?.value === 'rename' && value ? [{ ...value, ...replacementOf(value) }] : [],
  );
  for (const member of [...members, ...renamed])
    judgePlace(subject, below(directory, { ...member, isGlob: /[*?[]/.test(member.shape) }));
}

/** The new name in `s,from,to,` or `,from,to,`. */
function replacementOf({ shape }: Argument): Pick<Argument, 'shape' | 'value'> {
  const [, delimiter = '', rest = ''] = /^s?([^\w\s])(.*)$/s.exec(shape) ?? [];
  const name = delimiter === '' ? '' : (rest.split(delimiter)[1] ?? '').replaceAll(/[&~]|\\\d/g, '');
  return { shape: name, value: name };
}

/** An argument in a directory. */
export const below = (directory: Argument, { value, shape, isGlob, text }: Argument): Argument => ({
  ...directory,
  text,
  isGlob: directory.isGlob || isGlob,
  shape: `${directory.shape}/${shape}`,
  value: directory.value === undefined || value === undefined ? undefined : `${directory.value}/${value}`,
});

/** Judges a place that gets a file or a directory. Its directory is judged elsewhere. */
function judgePlace(subject: CommandAnalysis, place: Argument): void {
  const { inquiry, scope } = subject;
  for (const path of place.value === undefined ? [] : resolvePath(place.value, scope.directories)) {
    if (path !== undefined && isTrustedPlace(path, inquiry.facts, place.isGlob))
      subject.add('persistence', `changes a file that is executed or trusted later: ${path}`);
  }
}
