import { boundText } from '../../core/confirmation/bindings.js';
import type { ConfirmationRecord } from '../../core/confirmation/record.js';
import type { Confirmation } from './confirmation.js';
import type { Decision } from './deciders.js';

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
