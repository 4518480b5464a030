import type { ConfirmationInfo } from '../../../client/index.js';
import type { AccessInfo } from '../../state/wire.js';

/** What decides whether a button works now. */
export interface DecisionFacts {
  readonly info: ConfirmationInfo;
  readonly access: AccessInfo | undefined;
  readonly isConnected: boolean;
  /** Whether the card has been in its place for long enough. */
  readonly isSettled: boolean;
  readonly isSending: boolean;
  readonly reason: string;
}

/** A reason has a letter or digit, of any script. */
const SAYS_SOMETHING = /[\p{L}\p{N}]/u;

/** Whether this client has asked for it itself. */
export const isOwn = ({ info, access }: Pick<DecisionFacts, 'info' | 'access'>): boolean =>
  info.requested_by === access?.name;

/** Why a confirmation cannot be approved now; undefined when it can. */
export function whyNotApprove(facts: DecisionFacts): string | undefined {
  const { info, reason } = facts;
  if (!info.may_decide) return whyNotDecide(facts);
  if (info.requires === 'self' && !SAYS_SOMETHING.test(reason)) return 'Write a reason first: it is recorded.';
  return whyNotNow(facts);
}

/** Why a confirmation cannot be rejected now; undefined when it can. A client may always withdraw its own request. */
export function whyNotReject(facts: DecisionFacts): string | undefined {
  return facts.info.may_decide || isOwn(facts) ? whyNotNow(facts) : whyNotDecide(facts);
}

function whyNotNow({ isConnected, isSettled, isSending }: DecisionFacts): string | undefined {
  if (!isConnected) return 'The connection is lost.';
  if (isSending) return 'The decision is being sent.';
  return isSettled ? undefined : 'It has just come: read it first.';
}

function whyNotDecide(facts: DecisionFacts): string {
  const { info, access } = facts;
  if (info.requires === 'llm') return 'A model decides on this.';
  if (access?.is_local === true) {
    return 'Without a token of its own, this page cannot decide for an operator, because commands could: make a link with the token of an operator.';
  }
  if (isOwn(facts)) return 'Another operator has to decide: this client has asked for it itself.';
  return `The role operator or admin decides on this; you have the role ${access?.role ?? 'unknown'}.`;
}
