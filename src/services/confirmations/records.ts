import { type AuditEventName, auditPrincipal, type AuditTrail } from '../../core/audit-events.js';
import {
  boundText,
  CONFIRMATION_OUTCOMES,
  type ConfirmationObserver,
  type ConfirmationRecord,
} from '../../core/confirmation.js';
import type { Log } from '../../core/log.js';
import type { Metrics } from '../../core/metrics.js';
import type { Notification } from '../../core/notifications.js';
import type { Notifications } from '../notifications.js';
import type { ApprovalRecord } from '../remembered-approvals.js';
import type { Confirmation, Decision } from './confirmation.js';

/** What the logs are told of a step of a confirmation. */
export function recordOf(
  confirmation: Confirmation,
  event: ConfirmationRecord['event'],
  { by, justification }: Decision,
): ConfirmationRecord {
  const { id, action, mode, requester, sha256 } = confirmation;
  const isTyped = action.kind === 'input';
  return {
    event,
    confirmationId: id,
    mode,
    requester,
    by: by && { id: by.id, name: by.name },
    justification,
    command: isTyped ? undefined : boundText(action.request).replaceAll('\0', ' '),
    commandSha256: isTyped ? undefined : sha256,
    typedCharacters: action.typedCharacters,
    commandId: action.commandId,
    sessionId: action.session?.id ?? null,
    class: action.verdict.class,
    reasons: isTyped ? [] : action.verdict.reasons,
  };
}

/** Logs, audits and counts every confirmation event. Decisions are logged at `info`, failed attempts at `warn`. */
export const confirmationObserver =
  (log: Log, metrics: Metrics, audit: AuditTrail, notifications: Notifications): ConfirmationObserver =>
  (record) => {
    const { event, mode, requester, by, confirmationId, commandSha256, commandId, sessionId } = record;
    const isOdd = event === 'mismatch' || event === 'refused' || event === 'void';
    log[isOdd ? 'warn' : 'info'](`confirmation ${event}`, {
      confirmation_id: confirmationId,
      mode,
      requester: requester.name,
      by: by?.name,
      justification: record.justification || undefined,
      command: record.command,
      command_sha256: commandSha256,
      command_id: commandId,
      session_id: sessionId,
      class: record.class,
    });
    audit.record({
      event: 'decision',
      principal: auditPrincipal(requester),
      session_id: sessionId,
      command_id: commandId,
      command: record.command,
      verdict: { action: 'confirm', class: record.class, reasons: record.reasons },
      details: {
        decision: event,
        confirmation_id: confirmationId,
        command_sha256: commandSha256,
        mode,
        ...(record.typedCharacters !== undefined && { typed_characters: record.typedCharacters }),
        ...(by && { by: { id: by.id, name: by.name } }),
        ...(record.justification !== '' && { justification: record.justification }),
      },
    });
    const outcome = CONFIRMATION_OUTCOMES.find((name) => name === event);
    if (outcome) metrics.count('confirmations_total', { requires: mode, outcome });
    if (event === 'asked' && mode === 'operator') notifications.notify(waitingNotification(record));
  };

/** Tells that a request waits for an operator. */
function waitingNotification(record: ConfirmationRecord): Notification {
  const { confirmationId, requester, command, commandId, sessionId } = record;
  const what = command === undefined ? 'input' : 'a command';
  return {
    event: 'confirmation_required',
    message: `${what} of ${requester.name} waits for an operator (${record.class})`,
    sessionId,
    commandId,
    class: record.class,
    command,
    details: { confirmation_id: confirmationId, requested_by: requester.name },
  };
}

/** Logs and audits what happens to remembered approvals. */
export const approvalObserver =
  (log: Log, audit: AuditTrail) =>
  (record: ApprovalRecord): void => {
    const { event, approval, by, why, command, sessionId } = record;
    log.info(`approval ${event}`, { approval_id: approval.id, scope: approval.scope, by: by?.name, why });
    audit.record({
      event: AUDIT_NAMES[event],
      ...(by && { principal: auditPrincipal(by) }),
      session_id: sessionId ?? approval.sessionId,
      command,
      details: detailsOf(record),
    });
  };

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
