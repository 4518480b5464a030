import { type AuditEvent, auditPrincipal } from '../../core/audit/event.js';
import type { Refusal } from '../../core/egress/refusal.js';
import type { Caller } from '../registry/caller.js';
import type { CommandRecord } from '../registry/command-record.js';

/** Audit record of an accepted command. Text read from its standard input is omitted, because it may be a password. */
export function commandStarted({ command, owner, sessionId }: CommandRecord, { principal, from }: Caller): AuditEvent {
  const { id, command: text, args, cwd, env, stdin, stdinPipe, tty } = command.spec;
  const details = {
    ...(owner.id !== principal.id && { owner: owner.id }),
    ...(cwd !== undefined && { cwd }),
    ...(env && { environment: Object.keys(env) }),
    ...(stdin !== undefined && { stdin_characters: stdin.length }),
    ...(stdinPipe && { stdin_stream: true }),
    ...(tty && { tty }),
  };
  return {
    event: 'command_started',
    principal: auditPrincipal(principal),
    from,
    session_id: sessionId,
    command_id: id,
    command: text,
    args,
    details,
  };
}

/** Audit record of an ended command. */
export function commandEnded({ command, owner, sessionId }: CommandRecord): AuditEvent {
  const { outcome, stdout, stderr, id, spec } = command;
  return {
    event: 'command_ended',
    principal: auditPrincipal(owner),
    session_id: sessionId,
    command_id: id,
    details: {
      status: outcome?.status,
      exit_code: outcome?.exitCode,
      killed_by: outcome?.killedBy,
      duration_ms: Math.round(outcome?.durationMs ?? 0),
      stdout_bytes: stdout.bytes,
      stderr_bytes: stderr.bytes,
      ...(spec.stdinPipe && { stdin_bytes: spec.stdinPipe.bytes }),
      ...(command.refusedConnections > 0 && { refused_connections: command.refusedConnections }),
    },
  };
}

/** Most refused connections of one command that are recorded each. */
const MAX_REFUSALS = 100;

/** Audit record of a connection that the allow-list of a command's sandbox has refused; undefined for the many after. */
export function connectionRefused(
  { command, owner, sessionId }: CommandRecord,
  { destination, reason, message }: Refusal,
): AuditEvent | undefined {
  if (command.refusedConnections > MAX_REFUSALS) return undefined;
  return {
    event: 'egress_refused',
    principal: auditPrincipal(owner),
    session_id: sessionId,
    command_id: command.id,
    details: { destination, reason, message },
  };
}
