import type { Argument } from './argument.js';
import type { Directory, PolicyFacts } from '../model/facts.js';
import { normalizePath } from '../paths/paths.js';

/** Directories that are kept apart; where more are possible, any is. */
const MAX_DIRECTORIES = 8;

/** All that is possible when either of two things has happened. */
export function eitherOf(a: readonly Directory[], b: readonly Directory[]): readonly Directory[] {
  const all = [...new Set([...a, ...b])];
  return all.length > MAX_DIRECTORIES ? [undefined] : all;
}

/** The directories that are possible when a command has succeeded; undefined when it changes none. */
export function directoriesAfter(
  program: string | undefined,
  args: readonly Argument[],
  directories: readonly Directory[],
  { home }: PolicyFacts,
): readonly Directory[] | undefined {
  if (program === 'popd' || (program === undefined && args.length > 0)) return [undefined];
  if (program !== 'cd' && program !== 'pushd' && program !== 'chdir') return undefined;
  const [target, ...others] = args.filter(({ shape }) => !/^-[LPe@]*$/.test(shape) || shape === '-');
  if (!target) return program === 'cd' ? [home] : [undefined];
  // zsh: `cd OLD NEW` puts one name in the place of another.
  if (others.length > 0) return [undefined];
  const { value } = target;
  if (value === undefined || target.isGlob || value === '-' || /^[+-]\d+$/.test(value)) return [undefined];
  if (value.startsWith('/')) return [normalizePath(value, '/')];
  return directories.map((directory) => (directory === undefined ? undefined : normalizePath(value, directory)));
}
