import type { PolicyFacts } from '../model/facts.js';
import { findFishSyntax } from './fish-text.js';

/** The reason why a text of a session's shell cannot be read as one of a POSIX shell; undefined when it can. */
export function whyForeign(text: string, shell: PolicyFacts['shell']): string | undefined {
  if (shell === 'fish') return findFishSyntax(text);
  // Names mean something else in it: `del` and `ri` remove files.
  return shell === 'pwsh' ? 'the policy cannot read PowerShell' : undefined;
}
