import type { Principal, Role } from './principal.js';

interface AuditVerdict {
  readonly action: string;
  readonly class: string;
  readonly reasons: readonly string[];
}

/** Recorded events, each with the sentence that documents it. */
export const AUDIT_EVENTS = {
  daemon_started: 'The daemon takes requests from now on.',
  daemon_stopped: 'The daemon has ended as it was asked to. Without this record it was killed.',
  configuration_reloaded: 'The configuration was read again.',
  connected: 'A client was accepted.',
  connection_refused: 'A client was refused: `outcome` has the code, `details.why` the reason.',
  token_made: 'A token counts that did not before.',
  token_changed: 'A token has another secret, name, role or end.',
  token_ended: 'A token counts no more.',
  page_signed_in: 'A page of the dashboard has used a one-time link: it has a sign-in of its own.',
  page_signed_out: 'The sign-in of a page has ended: `details.why` has the reason.',
  request: 'A request that changes something was answered, or one was refused.',
  verdict: 'The policy has judged a command, typed text, or the variables of a session.',
  decision: 'A confirmation was requested, decided, or has expired.',
  approval_remembered: 'An approval counts for later commands from now on: `details` has its id, scope and pattern.',
  approval_used: 'A command runs without a question because of a remembered approval.',
  approval_revoked: 'A remembered approval was revoked.',
  approval_expired: 'A remembered approval has ended: its time, or its session.',
  command_started: 'A command was accepted.',
  command_ended: 'A command has ended.',
  egress_refused:
    'A connection out of a sandbox was refused: `details` has the destination and the reason. Up to 100 for each command; `command_ended` has the number.',
  session_closed: 'A session has ended.',
  gap: 'Records are missing here, or another program has changed the file: `details.reason` says what is known.',
} as const;

export type AuditEventName = keyof typeof AUDIT_EVENTS;

export interface AuditPrincipal {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** The user as which its processes run; omitted for the daemon's own. */
  readonly run_as?: string;
}

/** An audit event. Field names are those of the record; fields that do not apply are omitted. */
export interface AuditEvent {
  readonly event: AuditEventName;
  readonly principal?: AuditPrincipal | undefined;
  /** Origin of the request: the transport, and the address of the peer. */
  readonly from?: string | undefined;
  readonly request?: string | undefined;
  readonly session_id?: string | null | undefined;
  readonly command_id?: string | undefined;
  /** Text of a command as requested. On writing, secrets are masked and its hash is added. */
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly verdict?: AuditVerdict | undefined;
  /** `ok`, or an error code. */
  readonly outcome?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * Destination of audit events. Returns at once and never throws: a record that cannot be written does not fail a
 * command.
 */
export interface AuditTrail {
  record(event: AuditEvent): void;
}

export const NO_AUDIT: AuditTrail = { record: () => undefined };

export const auditPrincipal = ({ id, name, role, runAs }: Principal): AuditPrincipal => ({
  id,
  name,
  role,
  ...(runAs !== undefined && { run_as: runAs }),
});
