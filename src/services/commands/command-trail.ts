import { type AuditEvent, auditPrincipal, type AuditTrail } from '../../core/audit-events.js';
import type { Refusal } from '../../core/egress.js';
import type { Metrics } from '../../core/metrics.js';
import type { CommandRequest } from '../../core/protocol/requests.js';
import type { CommandSpan, Traces } from '../../core/traces.js';
import { limitNotification, type Notifications } from '../notifications.js';
import type { Caller } from '../registry/caller.js';
import type { CommandRecord } from '../registry/command-record.js';

/** Audit record of an accepted command. Text read from its standard input is omitted, because it may be a password. */
function commandStarted({ command, owner, sessionId }: CommandRecord, { principal, from }: Caller): AuditEvent {
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

function commandEnded({ command, owner, sessionId }: CommandRecord): AuditEvent {
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
function connectionRefused(
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

/** Records what happens to commands: in the audit trail, metrics, spans and notifications. */
export class CommandTrail {
  readonly #audit: AuditTrail;
  readonly #metrics: Metrics;
  readonly #traces: Traces;
  readonly #notifier: Notifications;

  constructor(audit: AuditTrail, metrics: Metrics, traces: Traces, notifier: Notifications) {
    this.#audit = audit;
    this.#metrics = metrics;
    this.#traces = traces;
    this.#notifier = notifier;
  }

  /** Begins the span of a command; its variables are given to the command, unless the client has set them. */
  beginSpan(id: string, sessionId: string | undefined, { command, args }: CommandRequest): CommandSpan | undefined {
    return this.#traces.command({ id, sessionId, command, args });
  }

  /** Records that a command is accepted, and from now on what happens to it. */
  follow(record: CommandRecord, caller: Caller, span: CommandSpan | undefined): void {
    const { command, sessionId } = record;
    const kind = sessionId === null ? 'one_shot' : 'session';
    this.#audit.record(commandStarted(record, caller));
    command.onRefused = (refusal) => {
      const event = connectionRefused(record, refusal);
      if (event) this.#audit.record(event);
    };
    command.atEnd('metrics', ({ status, durationMs, use, breach }) => {
      this.#metrics.count('commands_finished_total', { kind, status });
      this.#metrics.observe('command_duration_seconds', durationMs / 1000, { kind });
      this.#metrics.count('commands_cpu_seconds_total', {}, (use.cpuMs ?? 0) / 1000);
      if (!breach) return;
      this.#metrics.count('limits_exceeded_total', { limit: breach.resource });
      const { id: commandId, spec } = command;
      this.#notifier.notify(limitNotification(breach, { sessionId, commandId, command: spec.command }));
    });
    if (span) command.atEnd('metrics', span.end);
    command.atEnd('audit', () => {
      this.#audit.record(commandEnded(record));
    });
  }
}
