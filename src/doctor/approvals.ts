import { approvalFileIn, readApprovals } from '../services/remembered-approvals.js';
import type { Finding } from './finding.js';

/** Checks the file with the approvals that are remembered for good. Without one there is nothing to report. */
export function examineApprovals(stateDirectory: string): readonly Finding[] {
  const file = approvalFileIn(stateDirectory);
  const { approvals, problem } = readApprovals(file);
  const name = 'approvals';
  if (problem !== undefined) {
    const fix = `repair or remove ${file}; until then, none of its approvals counts, and commands are confirmed`;
    return [{ name, status: 'warn', detail: problem, fix }];
  }
  return approvals.length === 0
    ? []
    : [{ name, status: 'ok', detail: `${approvals.length} are remembered in ${file}` }];
}
