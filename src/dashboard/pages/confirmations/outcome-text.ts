import type { CommandResult } from '../../../client/index.js';
import type { Tone } from '../../components/tone.js';
import type { CardEnd } from './cards.js';

/** The end of a confirmation, for people. */
export interface OutcomeText {
  readonly badge: string;
  readonly tone: Tone;
  readonly text: string;
  /** Who decided, and the reason; empty for none. They come from outside. */
  readonly decider: string;
  readonly reason: string;
}

const ENDS: { readonly [O in CardEnd['outcome']]: readonly [badge: string, tone: Tone, text: string] } = {
  approved: ['Approved', 'good', ''],
  rejected: ['Rejected', 'bad', 'Nothing was run.'],
  expired: ['Expired', 'warn', 'It was not decided in time. Nothing was run; its client may ask again.'],
  withdrawn: ['Withdrawn', 'neutral', 'Its client no longer wants it, or has gone. Nothing was run.'],
  void: ['Void', 'warn', 'It no longer matches what was asked. Nothing was run; its client may ask again.'],
  gone: ['No longer open', 'neutral', 'It was decided, withdrawn or has expired while this page was not connected.'],
};

/** Describes how a confirmation has ended, and by whom. */
export function outcomeText({ outcome, by, justification }: CardEnd, me: string): OutcomeText {
  const [badge, tone, text] = ENDS[outcome];
  const isDecision = outcome === 'approved' || outcome === 'rejected';
  const decider = isDecision && by !== null ? `by ${by === me ? 'you' : by}` : '';
  return { badge, tone, text, decider, reason: justification ?? '' };
}

/** Describes what an approved action has done. */
export function resultText({ status, exit_code: code, restored, file, accepted_bytes: bytes }: CommandResult): string {
  if (file) return 'It was done.';
  if (restored) return `${restored.restored_count} paths restored, ${restored.removed_count} removed.`;
  if (bytes !== undefined) return 'It was typed.';
  return code === null ? `It is ${status}.` : `It has ${status} with exit code ${code}.`;
}

/** Says why a decision was not accepted, for people. */
export function refusalText(code: string, message: string): string {
  if (code === 'CONFIRMATION_MISMATCH') return `This is no longer what was asked: ${message}`;
  if (code === 'CONFIRMATION_NOT_FOUND') return `Decided too late: ${message}`;
  return message;
}
