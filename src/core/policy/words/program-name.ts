import type { Argument } from './argument.js';
import { baseName } from '../paths/paths.js';
import type { SimpleCommand } from './simple-command.js';

/** Programs with version suffixes, such as `python3.11`. */
const VERSIONED = /^(python|pypy|ruby|perl|php|lua|luajit|node|bash|ksh|zsh|tclsh|pip|gcc|clang|java|awk)-?[\d.]+$/;

/** Shells whose language the parser supports. */
export const SHELLS = new Set(['sh', 'bash', 'dash', 'ash', 'ksh', 'mksh', 'zsh', 'rbash', 'yash']);

/** Shells with other languages. */
export const FOREIGN_SHELLS = new Set(['fish', 'csh', 'tcsh', 'nu', 'elvish', 'xonsh', 'pwsh', 'powershell']);

/** Precommand modifiers of zsh and other shells that do not change which program runs. */
const TRANSPARENT = new Set(['command', 'builtin', 'exec', 'noglob', 'nocorrect', '-']);

/** Directories whose programs have their usual meaning. */
const STANDARD_DIRECTORY = /^(?:\/usr(?:\/local)?|\/opt\/homebrew)?\/s?bin\/[^/]+$/;

/** Whether a path is that of a system program, which has its usual meaning. */
export const isStandardProgram = (path: string): boolean => STANDARD_DIRECTORY.test(path);

/** The name of a program as used in the tables. */
export function plainName(name: string): string {
  // zsh: `=rm` expands to the path of rm.
  const base = baseName(name.startsWith('=') ? name.slice(1) : name);
  return VERSIONED.exec(base)?.[1] ?? base;
}

/** The program of a command and its arguments, after transparent prefixes; no program when it is unknown. */
export function stripAssignments({ name, args }: Pick<SimpleCommand, 'name' | 'args'>): {
  readonly program: string | undefined;
  readonly args: readonly Argument[];
} {
  if (name?.value === undefined || name.isGlob || name.isSample) return { program: undefined, args };
  if (!TRANSPARENT.has(name.value)) return { program: plainName(name.value), args };
  const at = args.findIndex(({ shape }) => !shape.startsWith('-'));
  return at === -1
    ? { program: plainName(name.value), args }
    : stripAssignments({ name: args[at], args: args.slice(at + 1) });
}
