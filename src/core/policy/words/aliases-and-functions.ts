import type { AnalysisContext } from './analysis-context.js';

/** Whether the name of a program may have another meaning in the session or the text: an alias, a function, a file. */
export function isOwnName(
  name: string,
  inquiry: Pick<AnalysisContext, 'facts' | 'findAlias' | 'findFunction'>,
): boolean {
  const { facts } = inquiry;
  if (facts.areNamesUnknown || facts.isPathChanged) return true;
  return inquiry.findAlias(name) !== undefined || (inquiry.findFunction(name, true) ?? '') !== '';
}
