import { type Signal, useSignal } from '@preact/signals';

import { ClientError, type ConfirmationInfo } from '../../../client/index.js';
import { useDashboard } from '../../state/context.js';
import { useDraft } from '../../state/use-draft.js';
import { messageOf } from '../../state/message.js';
import { refusalText, resultText } from './outcome-text.js';

/** A decision of this page. */
export interface DecisionState {
  /** The reason as it is typed. It is kept whatever becomes of the confirmation. */
  readonly reason: Signal<string>;
  /** What is being sent. */
  readonly sending: 'approve' | 'reject' | undefined;
  /** Why the last attempt was not accepted. */
  readonly problem: string | undefined;
  /** What the approved action has done. */
  readonly result: string | undefined;
  decide(decision: 'approve' | 'reject'): void;
}

/** Decides on a confirmation: for exactly what the card shows. */
export function useDecision({ confirmation_id: id, command_sha256: commandSha256 }: ConfirmationInfo): DecisionState {
  const { connection } = useDashboard();
  const reason = useDraft(`reason ${id}`);
  const state = useSignal<Pick<DecisionState, 'sending' | 'problem' | 'result'>>({
    sending: undefined,
    problem: undefined,
    result: undefined,
  });
  const send = async (decision: 'approve' | 'reject') => {
    const justification = reason.peek().trim();
    const given = { decision, commandSha256, ...(justification !== '' && { justification }) };
    state.value = { sending: decision, problem: undefined, result: undefined };
    try {
      const answer = await connection.client.confirm(id, given);
      const result = decision === 'approve' ? resultText(answer) : undefined;
      state.value = { sending: undefined, problem: undefined, result };
    } catch (error) {
      const problem = error instanceof ClientError ? refusalText(error.code, error.message) : messageOf(error);
      state.value = { sending: undefined, problem, result: undefined };
    }
  };
  const decide = (decision: 'approve' | 'reject') => {
    if (state.peek().sending === undefined) void send(decision);
  };
  return { reason, ...state.value, decide };
}
