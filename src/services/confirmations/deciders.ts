import type { Decider } from '../../core/confirmation/record.js';
import type { RememberedApproval } from '../../core/confirmation/remembered.js';
import type { Principal } from '../../core/access/principal.js';
import { AdapterError } from '../../core/errors.js';
import type { Confirmation } from './confirmation.js';

/** A decision on a confirmation: the decider and the justification. */
export interface Decision {
  readonly by: Decider;
  /** Empty for none. */
  readonly justification: string;
  /** The approval, if it is remembered. */
  readonly remembered?: RememberedApproval | undefined;
}

type Asked = Pick<Confirmation, 'mode' | 'requester'>;

/** True when the principal requested the action itself. */
const isOwn = ({ requester }: Asked, { id }: Principal): boolean => id === requester.id;

/**
 * True when a principal may know of a confirmation: its requester, and operators for what operators decide. To all
 * others it does not seem to exist.
 */
export const isVisible = (asked: Asked, principal: Principal): boolean =>
  isOwn(asked, principal) || (asked.mode === 'operator' && isOperator(principal));

/** True when a principal may decide. A command can never confirm itself over the connection that needs no token. */
export function mayDecide(asked: Asked, principal: Principal): boolean {
  if (asked.mode === 'self') return isOwn(asked, principal);
  return asked.mode === 'operator' && isOperator(principal) && !isOwn(asked, principal) && !principal.isLocalPeer;
}

/** True when a principal may withdraw a request: its own, unless rejecting it decides on it. */
export const mayWithdraw = (asked: Asked, principal: Principal): boolean =>
  asked.mode !== 'self' && isOwn(asked, principal);

const isOperator = ({ role }: Principal): boolean => role === 'operator' || role === 'admin';

/** The error for a principal that sees a confirmation but may not decide on it. */
export function refusalOf(asked: Asked, principal: Principal): AdapterError {
  const { mode } = asked;
  const details = { requires: mode, role: principal.role };
  if (mode === 'llm') {
    return new AdapterError('FORBIDDEN', 'a model decides over this: no principal can', { details });
  }
  const why = principal.isLocalPeer
    ? 'programs that connect without a token cannot decide for an operator, because commands could'
    : isOwn(asked, principal)
      ? 'the client that has asked for a command cannot be the operator that confirms it'
      : `the role ${principal.role} is not an operator’s`;
  const hint = '`shell-adapter token create --role operator` makes a token that can';
  return new AdapterError('FORBIDDEN', `${why}; ${hint}`, { details: { ...details, needs: ['operator', 'admin'] } });
}
