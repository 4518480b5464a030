import type { PolicyRequest } from '../../core/policy/analysis/inspection.js';
import { addFinding, decide, type Policy, type PolicyVerdict } from '../../core/policy/decision/policy.js';
import type { PolicyFacts } from '../../core/policy/model/facts.js';
import type { Finding } from '../../core/policy/model/finding.js';
import { lookAtFiles } from './file-facts.js';
import { judgeRepository } from './repository-settings.js';

/** Most paths of one command at which the policy looks: a look takes about 30 microseconds. */
const MAX_FILES = 1_000;

const TOO_MANY_FILES: Finding = {
  class: 'obfuscated',
  reason: `names more than ${MAX_FILES} files: too many to look where links lead and which are keys; name fewer at once, or their directory`,
  isOfProgram: false,
};

/**
 * Decides on a request with what lies on this machine: the files that it names, and the settings of the repositories in which
 * it runs git.
 */
export function decideHere(policy: Policy, request: PolicyRequest, facts: PolicyFacts): PolicyVerdict {
  const verdict = decideOnFiles(policy, request, facts);
  return verdict.repositories
    .flatMap((directory) => judgeRepository(directory) ?? [])
    .reduce((judged, finding) => addFinding(policy, judged, finding), verdict);
}

/** Decides on a request; decides again if files that it names are not what their paths say. */
function decideOnFiles(policy: Policy, request: PolicyRequest, facts: PolicyFacts): PolicyVerdict {
  const verdict = decide(policy, request, facts);
  if (verdict.paths.length === 0 || verdict.action === 'deny') return verdict;
  if (verdict.paths.length > MAX_FILES) return addFinding(policy, verdict, TOO_MANY_FILES);
  const files = lookAtFiles(verdict.paths, facts);
  return files.size === 0 ? verdict : decide(policy, request, { ...facts, files });
}
