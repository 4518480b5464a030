import type { RememberedApproval } from '../../core/confirmation/remembered.js';
import type { RememberedInfo, RememberedSummary } from '../../core/protocol/remembered.js';

/** Renders a remembered approval for the answer to the request that caused it. */
export const rememberedOf = ({ id, scope, pattern, expiresAt }: RememberedApproval): RememberedSummary => ({
  id,
  scope,
  pattern,
  expires_at: expiresAt?.toISOString() ?? null,
});

/** Renders a remembered approval for a list. */
export const rememberedInfoOf = (approval: RememberedApproval): RememberedInfo => ({
  ...rememberedOf(approval),
  working_directory: approval.directory,
  session_id: approval.sessionId,
  classes: [...approval.classes],
  requested_by: approval.requester.name,
  approved_by: approval.approver.name,
  remembered_at: approval.rememberedAt.toISOString(),
});
