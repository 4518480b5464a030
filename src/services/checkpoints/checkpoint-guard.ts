import { basename, dirname, join, relative } from 'node:path';

import type { Principal } from '../../core/principal.js';
import { findUncovered, type LostFiles, SKIP_REASONS } from '../../core/checkpoints.js';
import { mayDestroy } from '../../core/confirmation.js';
import { AdapterError } from '../../core/errors.js';
import type { PolicyRequest } from '../../core/policy/analysis/inspect.js';
import type { PolicyVerdict } from '../../core/policy/policy.js';
import type { Loss } from '../../core/policy/model.js';
import type { RememberedApproval } from '../../core/remembered-approval.js';
import { settledWithin } from '../../core/time.js';
import type { Warning } from '../../engine/command/outcome.js';
import { realPathOf } from '../../engine/system/local-files.js';
import type { JudgedRequest } from '../approval-coverage.js';
import type { SaveBefore } from '../confirmations/confirmations.js';
import { Surroundings } from '../confirmations/failures.js';
import type { ApprovalGuard, CheckpointGuard, SavedWorkspace } from '../gate/gate-options.js';
import type { RememberedApprovals } from '../remembered-approvals.js';
import type { SavedBefore } from './checkpoints.js';
import type { WorkspaceCheckpoints } from './workspace-checkpoints.js';

/** Longest label of a checkpoint, in characters. */
const MAX_LABEL = 100;

/** The label of a checkpoint that is made before a command. */
const labelBefore = ({ command }: Pick<PolicyRequest, 'command'>): string =>
  `before ${command.replaceAll(/\s+/g, ' ').slice(0, MAX_LABEL)}`;

/**
 * Returns what saves the workspace before an action that may destroy something. One that cannot be saved does not block
 * the action: it was confirmed, and its result carries a warning.
 */
export const saveBefore = (checkpoints: WorkspaceCheckpoints, isWanted: () => boolean): SaveBefore => {
  return async ({ kind, request, verdict, caller }) => {
    if ((kind !== 'command' && kind !== 'file') || !isWanted() || !mayDestroy(verdict))
      return { checkpointId: undefined, warnings: [] };
    try {
      const { principal } = caller;
      const { id } = await checkpoints.of(principal).saveBeforeCommand(labelBefore(request), principal);
      return { checkpointId: id, warnings: [] };
    } catch (error) {
      const message = `the workspace could not be saved before this command: ${(error as Error).message}`;
      return { checkpointId: undefined, warnings: [{ code: 'NO_CHECKPOINT', message }] };
    }
  };
};

/** Saves the workspace before a command that needs no confirmation if a checkpoint contains what it destroys. */
export class WorkspaceGuard implements CheckpointGuard {
  readonly #checkpoints: WorkspaceCheckpoints;
  /** How long a command waits for its checkpoint, in milliseconds. */
  readonly #timeoutMs: () => number;

  constructor(checkpoints: WorkspaceCheckpoints, timeoutMs: () => number) {
    this.#checkpoints = checkpoints;
    this.#timeoutMs = timeoutMs;
  }

  async secure(
    request: PolicyRequest,
    verdict: PolicyVerdict,
    principal: Principal,
  ): Promise<SavedWorkspace | { readonly reason: string }> {
    const checkpoints = this.#checkpoints.of(principal);
    const { workspace } = checkpoints;
    const lost: LostFiles[] = [];
    for (const loss of verdict.losses) {
      const files = lostFiles(loss, workspace);
      if (!files) return { reason: `${loss.path} leads out of the workspace` };
      lost.push(...files);
    }
    const surroundings = new Surroundings(verdict);
    const saving = checkpoints.saveBeforeCommand(labelBefore(request), principal);
    try {
      const limitMs = this.#timeoutMs();
      if (!(await settledWithin(saving, limitMs))) {
        saving.catch(() => undefined);
        return { reason: `the workspace could not be saved within ${limitMs / 1000} s` };
      }
      const reason = findGap(lost, await saving) ?? surroundings.findChange();
      return reason === undefined ? undoable((await saving).id) : { reason };
    } catch (error) {
      if (!(error instanceof AdapterError)) throw error;
      return { reason: `the workspace could not be saved: ${error.message}` };
    }
  }
}

/** What is lost, relative to the workspace; undefined when links lead out of it. */
function lostFiles({ path, sparesGit }: Loss, workspace: string): readonly LostFiles[] | undefined {
  const isWhole = path === workspace || realPathOf(path) === workspace;
  // Some programs remove a link, others what it leads to.
  const places = isWhole ? [workspace] : [join(realPathOf(dirname(path)), basename(path)), realPathOf(path)];
  if (places.some((place) => place !== workspace && !place.startsWith(`${workspace}/`))) return undefined;
  return places.map((place) => ({ path: relative(workspace, place), sparesGit }));
}

/** Describes what a checkpoint lacks of the lost files; undefined when it has all of them. */
function findGap(lost: readonly LostFiles[], { uncovered, isComplete }: SavedBefore): string | undefined {
  const gap = findUncovered(lost, uncovered);
  if (gap) {
    const why = gap.reason === 'own' ? 'it belongs to shell-adapter' : SKIP_REASONS[gap.reason];
    return `a checkpoint does not contain ${gap.path}: ${why}`;
  }
  return isComplete ? undefined : 'a checkpoint does not contain many of the files in the workspace';
}

const undoable = (checkpointId: string): SavedWorkspace => ({
  checkpointId,
  warnings: [
    {
      code: 'CHECKPOINT_SAVED',
      message:
        'The workspace was saved before this command: restore_workspace with its checkpoint_id ' +
        `(\`shell-adapter restore ${checkpointId}\`) brings back what it deletes.`,
    },
  ],
});

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
