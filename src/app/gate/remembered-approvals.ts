import { auditPrincipal, type AuditEventName } from '../../core/audit/event.js';
import type { WorkspaceCheckpoints } from '../../services/checkpoints/workspace-checkpoints.js';
import { approvalFileIn } from '../../services/approvals/approval-file.js';
import { type ApprovalRecord, RememberedApprovals } from '../../services/approvals/remembered-approvals.js';
import { RememberedGuard } from '../../services/confirmations/remembered-guard.js';
import { saveBefore } from './confirmations.js';
import type { Engine } from '../engine.js';
import { confirmationSettings } from './gate-settings.js';
import type { RuntimeContext } from '../runtime-context.js';

/** Creates the remembered approvals, from the file of an earlier run. Every step is logged and audited. */
export function buildApprovals(
  { pool, oneShots }: Engine,
  { configuration, audit, log: logs, closers }: RuntimeContext,
): RememberedApprovals {
  const log = logs('confirmations');
  const approvals = new RememberedApprovals({
    machine: { workspace: pool.cwd, path: pool.env['PATH'] ?? '', sandbox: () => oneShots.sandbox.profile },
    file: approvalFileIn(configuration().adapter.stateDirectory),
    ways: () => confirmationSettings(configuration()),
    observe: (record) => {
      const { event, approval, by, why, command, sessionId } = record;
      log.info(`approval ${event}`, { approval_id: approval.id, scope: approval.scope, by: by?.name, why });
      audit.record({
        event: AUDIT_NAMES[event],
        ...(by && { principal: auditPrincipal(by) }),
        session_id: sessionId ?? approval.sessionId,
        command,
        details: detailsOf(record),
      });
    },
    log,
  });
  closers.push(() => {
    approvals[Symbol.dispose]();
  });
  return approvals;
}

/** Creates the guard that lets commands run which a remembered approval covers. */
export const buildApprovalGuard = (
  approvals: RememberedApprovals,
  checkpoints: WorkspaceCheckpoints,
  { configuration }: RuntimeContext,
): RememberedGuard =>
  new RememberedGuard(
    approvals,
    saveBefore(checkpoints, () => configuration().confirmation.checkpoint),
  );

const AUDIT_NAMES = {
  remembered: 'approval_remembered',
  used: 'approval_used',
  revoked: 'approval_revoked',
  expired: 'approval_expired',
} as const satisfies Record<ApprovalRecord['event'], AuditEventName>;

const detailsOf = ({ approval, why }: ApprovalRecord): Readonly<Record<string, unknown>> => ({
  approval_id: approval.id,
  scope: approval.scope,
  pattern: approval.pattern,
  directory: approval.directory,
  requester: approval.requester,
  approver: approval.approver,
  mode: approval.mode,
  expires_at: approval.expiresAt?.toISOString() ?? null,
  ...(why !== undefined && { why }),
});
