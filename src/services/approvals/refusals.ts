import type { Principal } from '../../core/access/principal.js';
import type { RememberScope } from '../../core/confirmation/remembered.js';
import { AdapterError } from '../../core/errors.js';

/**
 * Checks that a principal may have an approval remembered. Programs that connect without a token may not have it
 * remembered for good, because commands could.
 * @throws AdapterError FORBIDDEN
 */
export function assertMayRemember(scope: RememberScope, { role, isLocalPeer }: Principal): void {
  const isOperator = (role === 'operator' || role === 'admin') && !isLocalPeer;
  if (scope !== 'always' || isOperator) return;
  const why = isLocalPeer
    ? 'programs that connect without a token cannot have it remembered for good, because commands could'
    : `the role ${role} cannot`;
  const message = `remember: "always" needs a token of the role operator or admin: ${why}; "session" and "hour" are allowed`;
  throw new AdapterError('FORBIDDEN', message, { details: { role, needs: ['operator', 'admin'] } });
}

/** The error for an approval that cannot be remembered. The confirmation stays open. */
export const unrememberable = (why: string): AdapterError =>
  new AdapterError('INVALID_REQUEST', `the approval cannot be remembered: ${why}; approve it without \`remember\``, {
    details: { field: 'remember' },
  });

/** The error for a requester with too many remembered approvals. */
export const tooManyApprovals = (max: number): AdapterError =>
  new AdapterError('INVALID_REQUEST', `${max} approvals are remembered for this token already: revoke some of them`, {
    details: { field: 'remember', max_remembered: max },
  });

/** The error for an unknown id: the same for every cause. */
export const approvalNotFound = (id: string): AdapterError =>
  new AdapterError(
    'APPROVAL_NOT_FOUND',
    `no approval ${id} is remembered: it was revoked, has expired, or was never there`,
    { details: { approval_id: id } },
  );

/** The error for a file of approvals that cannot be used. */
export const unavailable = (problem: string, file: string): AdapterError =>
  new AdapterError('APPROVALS_UNAVAILABLE', `${problem}; repair or remove the file, and start the daemon again`, {
    details: { file },
  });
