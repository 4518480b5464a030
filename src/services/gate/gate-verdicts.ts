import type { Principal } from '../../core/access/principal.js';
import { type AuditEvent, auditPrincipal } from '../../core/audit/event.js';
import { AdapterError, type ErrorDetails } from '../../core/errors.js';
import type { Log } from '../../core/logging/log.js';
import type { PolicyVerdict } from '../../core/policy/decision/policy.js';
import type { SessionRecord } from '../registry/session-registry.js';

/** The audit record of a verdict, without the command. */
export const judgementRecord = (
  { action, class: commandClass, reasons }: Pick<PolicyVerdict, 'action' | 'class' | 'reasons'>,
  session: SessionRecord | undefined,
  principal: Principal,
): AuditEvent => ({
  event: 'verdict',
  principal: auditPrincipal(principal),
  session_id: session?.id ?? null,
  verdict: { action, class: commandClass, reasons },
});

/**
 * Throws on a denied command, and logs it.
 * @throws AdapterError COMMAND_DENIED
 */
export function refuse(verdict: PolicyVerdict, session: SessionRecord | undefined, log: Log): void {
  if (verdict.action !== 'deny') return;
  const { action, class: commandClass, reasons } = verdict;
  log.warn('a command was denied', { action, class: commandClass, reasons, session_id: session?.id ?? null });
  throw denial(verdict, 'the policy does not let this run');
}

function denial({ action, class: commandClass, reasons, commands }: PolicyVerdict, what: string): AdapterError {
  const message = `${what}: ${reasons.slice(0, SHOWN_REASONS).join('; ')}`;
  const shown = commands.filter((command) => command.action !== 'allow').map(({ text }) => text);
  const details: ErrorDetails = { action, class: commandClass, reasons, commands: shown };
  return new AdapterError('COMMAND_DENIED', message, { details });
}

/** The error for a session that would need a confirmation. Without variables, its shell is the cause. */
export function unconfirmable(verdict: PolicyVerdict, variables: readonly string[]): AdapterError {
  const [name] = variables;
  const instead =
    name === undefined
      ? 'name a shell instead: bash, zsh or sh'
      : `open it without ${variables.join(', ')}, and set them by a command in it (export ${name}=…), which can be confirmed`;
  const { message, details } = denial(verdict, 'a session cannot be confirmed');
  return new AdapterError('COMMAND_DENIED', `${message}; ${instead}`, { details: { ...details, variables } });
}

/** Maximum number of reasons in the message; `details` has more of them. */
const SHOWN_REASONS = 3;
