import type { RememberedApproval } from '../../core/confirmation/remembered.js';
import type { Confirmation } from './confirmation.js';
import { unrememberable } from '../approvals/refusals.js';
import type { RememberedApprovals, RememberWish } from '../approvals/remembered-approvals.js';

/**
 * Remembers the approval of a confirmation.
 * @throws AdapterError INVALID_REQUEST, FORBIDDEN, APPROVALS_UNAVAILABLE
 */
export function remember(
  approvals: RememberedApprovals,
  { action, mode, requester }: Confirmation,
  { scope, approver }: Pick<RememberWish, 'scope' | 'approver'>,
): RememberedApproval {
  const { request, verdict, place } = action;
  if (!place) throw unrememberable('typed input is confirmed each time');
  return approvals.remember({ judged: { request, verdict, place }, scope, requester, approver, mode });
}
