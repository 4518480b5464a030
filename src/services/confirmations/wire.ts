import type { Principal } from '../../core/principal.js';
import { nodeNameIn } from '../../core/cluster/address.js';
import type { ConfirmationOutcome } from '../../core/confirmation.js';
import type { ConfirmationInfo } from '../../core/protocol/confirmations.js';
import type { EventPayload } from '../../core/protocol/results.js';
import { judgedCommands, renderUnstarted, shortReason } from '../registry/command-record.js';
import { type Confirmation, type ConfirmedAnswer, type Decision, mayDecide } from './confirmation.js';
import { rememberedOf } from '../remembered-approvals.js';

/** Maximum number of commands sent to a client. */
const MAX_COMMANDS = 50;

/** Facts that a client needs to confirm an action. */
export type ConfirmationTerms = Pick<
  ConfirmationInfo,
  'confirmation_id' | 'class' | 'reasons' | 'commands' | 'command_sha256' | 'expires_at' | 'requires'
>;

/** Renders the terms of a confirmation for the wire. */
export function termsOf({ id, action, mode, sha256, expiresAt }: Confirmation): ConfirmationTerms {
  const { verdict } = action;
  // Commands that are allowed anyway matter least.
  const commands = verdict.commands.toSorted((a, b) => Number(a.action === 'allow') - Number(b.action === 'allow'));
  return {
    confirmation_id: id,
    class: verdict.class,
    reasons: verdict.reasons.map(shortReason),
    commands: judgedCommands(commands.slice(0, MAX_COMMANDS)),
    command_sha256: sha256,
    expires_at: expiresAt.toISOString(),
    requires: mode,
  };
}

/** Renders the result of an action that is not confirmed yet, or was rejected. */
export function renderConfirmation(confirmation: Confirmation): ConfirmedAnswer {
  const { commandId, session, directory, kind } = confirmation.action;
  const { outcome } = confirmation;
  const status = outcome === 'rejected' || outcome === 'withdrawn' ? 'denied' : 'confirmation_required';
  return {
    ...renderUnstarted({ commandId, sessionId: session?.id ?? null, directory }, status),
    ...termsOf(confirmation),
    ...(kind === 'input' && { accepted_bytes: 0 }),
  };
}

/**
 * Renders everything that a decider has to see.
 * @param diffBase the newest checkpoint that the viewer may see
 */
export function infoOf(confirmation: Confirmation, viewer: Principal, diffBase: string | null): ConfirmationInfo {
  const { id, action, requester, requestedAt } = confirmation;
  const node = nodeNameIn(id);
  const { command, args, env, stdin } = action.request;
  return {
    ...termsOf(confirmation),
    kind: action.kind,
    command,
    ...(args && { args: [...args] }),
    ...(env && { env: { ...env } }),
    ...(stdin !== undefined && { stdin }),
    working_directory: action.directory,
    command_id: action.commandId,
    ...(node !== undefined && { node }),
    session_id: action.session?.id ?? null,
    session_label: action.session?.label ?? null,
    requested_by: requester.name,
    requested_at: requestedAt.toISOString(),
    may_decide: mayDecide(confirmation, viewer),
    server_time: new Date().toISOString(),
    diff_base: diffBase,
  };
}

/** Renders the event that a confirmation is closed. */
export const resolutionOf = (
  { id, action }: Confirmation,
  outcome: ConfirmationOutcome,
  { by, justification, remembered }: Decision,
): EventPayload<'confirmation_resolved'> => ({
  confirmation_id: id,
  command_id: action.commandId,
  session_id: action.session?.id ?? null,
  outcome,
  decided_by: by?.name ?? null,
  justification: justification === '' ? null : justification,
  remembered: remembered ? rememberedOf(remembered) : null,
});
