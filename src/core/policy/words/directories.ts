import type { Argument } from './argument.js';
import type { Directory, PolicyFacts } from '../model/facts.js';
import { normalizePath } from '../paths/paths.js';

/** Most directories that are tracked; if more are possible, the directory counts as unknown. */
const MAX_DIRECTORIES = 8;

/** The union of the directories of two alternatives. */
export function eitherOf(a: readonly Directory[], b: readonly Directory[]): readonly Directory[] {
  const all = [...new Set([...a, ...b])];
  return all.length > MAX_DIRECTORIES ? [undefined] : all;
}

/** The possible directories after a command has succeeded; undefined when it changes none. */
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
  // zsh: `cd OLD NEW` replaces one name by another.
  if (others.length > 0) return [undefined];
  const { value } = target;
  if (value === undefined || target.isGlob || value === '-' || /^[+-]\d+$/.test(value)) return [undefined];
  if (value.startsWith('/')) return [normalizePath(value, '/')];
  return directories.map((directory) => (directory === undefined ? undefined : normalizePath(value, directory)));
}
