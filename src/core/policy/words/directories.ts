import type { Argument } from './argument.js';
import type { Directory, PolicyFacts } from '../model/facts.js';
import type { ProgramKnowledge } from './program-knowledge.js';

/** Most directories that are tracked; if more are possible, the directory counts as unknown. */
const MAX_DIRECTORIES = 8;

/** The union of the directories of two alternatives. */
export function eitherOf(a: readonly Directory[], b: readonly Directory[]): readonly Directory[] {
  const all = [...new Set([...a, ...b])];
  return all.length > MAX_DIRECTORIES ? [undefined] : all;
}

/** The possible directories after a command has succeeded; undefined when it changes none. */
export function directoriesAfter(
  { program, args }: { readonly program: string | undefined; readonly args: readonly Argument[] },
  directories: readonly Directory[],
  { home }: PolicyFacts,
  programs: ProgramKnowledge,
): readonly Directory[] | undefined {
  if (program === undefined) return args.length > 0 ? [undefined] : undefined;
  return programs.directoryChangeOf(program)?.(args, directories, home);
}
