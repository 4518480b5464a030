import { literal } from '../words/argument.js';
import type { AnalysisContext } from '../words/analysis-context.js';
import { isOwnName } from '../words/aliases-and-functions.js';
import type { Scope, SimpleCommand, Stdin } from '../words/simple-command.js';

/** Programs that print some of the lines of their input. */
const FILTERS = /^(?:head|tail|sort|uniq|grep|egrep|fgrep|shuf|tac|cat|tee|sed|tr)$/;

/** The files whose names a command prints, as far as they are known. */
export function listOf(
  { name, args, redirects }: SimpleCommand,
  stdin: Stdin | undefined,
  inquiry: AnalysisContext,
): Pick<Extract<Stdin, { kind: 'unknown' }>, 'names' | 'below'> {
  const program = name?.value;
  if (program === undefined || redirects.length > 0 || isOwnName(program, inquiry)) return {};
  const { programs } = inquiry;
  if (FILTERS.test(program) && stdin?.kind === 'unknown') return { below: stdin.below };
  return { names: programs.listedBy(program)?.(args), below: programs.listedBelow(program)?.(args) };
}

/**
 * Judges the names that a compound command reads: `find … | while read f; do cat "$f"; done` may read any of the files.
 * @param since number of the commands that were judged before it
 */
export function judgeNamesRead(inquiry: AnalysisContext, since: number, scope: Scope): void {
  const { stdin } = scope;
  const readsAny = inquiry.commands.slice(since).some(({ hasUnknownPaths }) => hasUnknownPaths);
  if (!readsAny || stdin?.kind !== 'unknown' || !stdin.below) return;
  const words = { name: literal('xargs'), args: [literal('cat')], assignments: [], redirects: [] };
  inquiry.judgeCommand({ ...words, stdin, text: 'read' }, scope);
}
