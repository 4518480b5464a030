import type { ConfirmationInfo } from '../../client/index.js';
import { formatSpan, onOneLine } from '../console/style.js';

/**
 * Describes a pending confirmation for the person who decides, line by line: nothing is truncated, and control
 * characters are escaped.
 */
export function describeQuestion(asked: ConfirmationInfo, now: number): string[] {
  const { command, args = [], stdin, env = {}, session_label: label, requires } = asked;
  const left = formatSpan(Date.parse(asked.expires_at) - now);
  const session = label ?? asked.session_id;
  // A part that is equal to the whole command needs no second line.
  const stopped = asked.commands.filter(({ action, command: text }) => action !== 'allow' && text !== command.trim());
  return [
    `Confirm ${KINDS[asked.kind]} (${asked.class}), requested by ${show(asked.requested_by)}; ${left} left`,
    ...asked.reasons.map((reason) => `  - ${show(reason)}`),
    `  in ${show(asked.working_directory)}${session === null ? '' : `, session ${show(session)}`}`,
    ...linesOf(command).map((line) => `  | ${line}`),
    ...args.map((arg) => `  argument: ${show(arg)}`),
    ...Object.entries(env).map(([name, value]) => `  variable: ${name}=${show(value)}`),
    ...(stdin === undefined ? [] : linesOf(stdin).map((line) => `  input: ${line}`)),
    ...stopped.map((part) => `  the part to confirm: ${show(part.command)} (${part.class})`),
    ...(asked.class === 'interactive' ? ['  Once it is confirmed, everything that is typed into it passes.'] : []),
    `  ${asked.confirmation_id}, to be confirmed by: ${requires}`,
  ];
}

const KINDS: Readonly<Record<ConfirmationInfo['kind'], string>> = {
  command: 'this command',
  input: 'this typed input',
  restore: 'this restore of the workspace',
  file: 'this request about files',
};

/** Escapes an untrusted text for one line. */
const show = (text: string): string => onOneLine(text, Infinity);

const linesOf = (text: string): string[] => text.split('\n').map(show);

/** Justification of a decision without a reason. */
const NO_REASON = 'decided at a terminal';

/** Parses a reply: `y` or `yes` approves, anything else rejects; a reason may follow. */
export function readReply(line: string): {
  readonly decision: 'approve' | 'reject';
  readonly justification: string;
} {
  const [, word = '', reason = ''] = /^\s*(\S*)\s*(.*?)\s*$/.exec(line) ?? [];
  const decision = /^y(?:es)?$/i.test(word) ? 'approve' : 'reject';
  return { decision, justification: reason === '' ? NO_REASON : reason };
}
