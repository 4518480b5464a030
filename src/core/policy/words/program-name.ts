import type { Argument } from './argument.js';
import type { ProgramKnowledge } from './program-knowledge.js';
import type { SimpleCommand } from './simple-command.js';

/** Directories whose programs have their usual meaning. */
const STANDARD_DIRECTORY = /^(?:\/usr(?:\/local)?|\/opt\/homebrew)?\/s?bin\/[^/]+$/;

/** Whether a path is that of a system program, which has its usual meaning. */
export const isStandardProgram = (path: string): boolean => STANDARD_DIRECTORY.test(path);

/** The program of a command and its arguments, after precommand modifiers; no program when it is unknown. */
export function stripPrefixes(
  { name, args }: Pick<SimpleCommand, 'name' | 'args'>,
  programs: ProgramKnowledge,
): { readonly program: string | undefined; readonly args: readonly Argument[] } {
  if (name?.value === undefined || name.isGlob || name.isSample) return { program: undefined, args };
  const at = programs.has(name.value, 'prefix') ? args.findIndex(({ shape }) => !shape.startsWith('-')) : -1;
  return at === -1
    ? { program: programs.plainName(name.value), args }
    : stripPrefixes({ name: args[at], args: args.slice(at + 1) }, programs);
}
