import type { PolicyVerdict } from '../../core/policy/decision/policy.js';
import type { Answer } from '../../core/protocol/requests.js';

/** Longest reason on the wire, in characters. */
const MAX_REASON_LENGTH = 500;

/** Renders the commands of a verdict for the wire. */
export const judgedCommands = (commands: PolicyVerdict['commands']): Answer<'check_command'>['commands'] =>
  commands.map((command) => ({
    command: command.text,
    program: command.program ?? null,
    action: command.action,
    class: command.class,
    reasons: command.reasons.map(shortReason),
  }));

/** Truncates a reason that is too long for the wire. */
export const shortReason = (reason: string): string =>
  reason.length > MAX_REASON_LENGTH ? `${reason.slice(0, MAX_REASON_LENGTH)}…` : reason;
