import type { Principal } from '../../core/access/principal.js';
import { AdapterError } from '../../core/errors.js';
import type { Confirmation } from './confirmation.js';

type Asked = Pick<Confirmation, 'mode' | 'requester'>;

/** Whether a principal has asked for something itself. */
export const isOwn = ({ requester }: Asked, { id }: Principal): boolean => id === requester.id;

/**
 * Whether a principal learns that something waits: who has asked for it, and operators of what operators decide. To all
 * others it is as if it were not there.
 */
export const isVisible = (asked: Asked, principal: Principal): boolean =>
  isOwn(asked, principal) || (asked.mode === 'operator' && isOperator(principal));

/** Whether a principal may decide. A command never confirms itself through the connection that needs no token. */
export function mayDecide(asked: Asked, principal: Principal): boolean {
  if (asked.mode === 'self') return isOwn(asked, principal);
  return asked.mode === 'operator' && isOperator(principal) && !isOwn(asked, principal) && !principal.isLocalPeer;
}

const isOperator = ({ role }: Principal): boolean => role === 'operator' || role === 'admin';

/** Why somebody who knows of it may not decide. */
export function refusalOf(asked: Asked, principal: Principal): AdapterError {
  const { mode } = asked;
  const details = { requires: mode, role: principal.role };
  if (mode === 'llm') {
    return new AdapterError('FORBIDDEN', 'a model decides over this: nobody else can', { details });
  }
  const why = principal.isLocalPeer
    ? 'programs that connect without a token cannot decide for an operator, because commands could'
    : isOwn(asked, principal)
      ? 'whoever has asked for a command cannot be the operator who confirms it'
      : `the role ${principal.role} is not an operator’s`;
  const hint = '`shell-adapter token create --role operator` makes a token that can';
  return new AdapterError('FORBIDDEN', `${why}; ${hint}`, { details: { ...details, needs: ['operator', 'admin'] } });
}
