import type { Principal } from '../../core/principal.js';
import type { RememberedApproval } from '../../core/remembered-approval.js';
import type { Warning } from '../../engine/command/outcome.js';
import type { ApprovalGuard, SavedWorkspace } from '../gate/gate-options.js';
import type { SaveBefore } from './confirmations.js';
import type { JudgedRequest } from '../approval-coverage.js';
import type { RememberedApprovals } from '../remembered-approvals.js';

/** Lets commands run that a remembered approval covers, after the same checkpoint as after a confirmation. */
export class RememberedGuard implements ApprovalGuard {
  readonly #approvals: RememberedApprovals;
  readonly #save: SaveBefore;

  constructor(approvals: RememberedApprovals, save: SaveBefore) {
    this.#approvals = approvals;
    this.#save = save;
  }

  admit(
    judged: JudgedRequest,
    principal: Principal,
    isUnchanged: () => boolean,
  ): Promise<SavedWorkspace | undefined> | undefined {
    const approval = isUnchanged() ? this.#approvals.find(judged, principal) : undefined;
    return approval && this.#prepare(approval, judged, principal, isUnchanged);
  }

  /** Saving takes time, in which the files or the approval may have changed: then the command has to be confirmed. */
  async #prepare(
    { id }: RememberedApproval,
    judged: JudgedRequest,
    principal: Principal,
    isUnchanged: () => boolean,
  ): Promise<SavedWorkspace | undefined> {
    const { request, verdict } = judged;
    const saved = await this.#save({ kind: 'command', request, verdict, caller: { principal } });
    const approval = isUnchanged() ? this.#approvals.find(judged, principal) : undefined;
    if (approval?.id !== id) return undefined;
    this.#approvals.noteUse(approval, judged);
    return { ...saved, warnings: [...saved.warnings, warningOf(approval)] };
  }
}

const warningOf = ({ id, scope, approver }: RememberedApproval): Warning => ({
  code: 'REMEMBERED_APPROVAL',
  message:
    `This command ran without a question: ${approver.name} has approved it earlier, remembered as ${id} (${scope}). ` +
    `revoke_remembered_approval (\`shell-adapter confirm --remembered --revoke ${id}\`) ends that.`,
});
