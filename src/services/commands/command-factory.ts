import { resolve } from 'node:path';

import type { Principal } from '../../core/principal.js';
import { type AuditEvent, auditPrincipal, type AuditTrail } from '../../core/audit-events.js';
import type { Refusal } from '../../core/egress.js';
import { AdapterError } from '../../core/errors.js';
import { commandIdFrom, ID_BYTES } from '../../core/ids.js';
import type { Metrics } from '../../core/metrics.js';
import type { CommandClass } from '../../core/policy/model.js';
import type { CommandRequest } from '../../core/protocol/requests.js';
import { chooseProfile } from '../../core/sandbox.js';
import type { SandboxProfile } from '../../core/sandbox-profiles.js';
import type { SecretMask } from '../../core/secrets.js';
import type { CommandSpan, Traces } from '../../core/traces.js';
import { Command, type CommandOutputOptions, type CommandSpec } from '../../engine/command/command.js';
import type { Warning } from '../../engine/command/outcome.js';
import type { StdinPipe } from '../../engine/output/stdin-pipe.js';
import { followLinks } from '../../engine/system/local-files.js';
import { randomText } from '../../engine/system/random.js';
import type { Quotas } from '../access/admission.js';
import type { Approval } from '../confirmations/confirmation.js';
import type { RefusedText } from '../gate/gate-options.js';
import { limitNotification, type Notifications } from '../notifications.js';
import type { Caller } from '../registry/caller.js';
import { type CommandLimits, outputLimitsOf, resourceLimitsOf, timeoutOf } from '../registry/rendered-limits.js';
import { type CommandRecord, styleOf } from '../registry/command-record.js';
import type { CommandRegistry } from '../registry/command-registry.js';
import type { SessionRecord } from '../registry/session-registry.js';
import type { SessionHealth } from '../sessions/session-health.js';
import { enterableDirectory, type Executions } from '../executions.js';
import type { StreamedInputs } from './streamed-inputs.js';

/** A command's span, and its variables with those of the span. */
interface TracedCommand {
  readonly span: CommandSpan | undefined;
  readonly env: CommandSpec['env'];
}

/** Begins the span of a command. Its variables are given to the command, unless the client has set them. */
function beginSpan(
  traces: Traces,
  { command, args, env }: CommandRequest,
  { id, session }: { readonly id: string; readonly session: Pick<SessionRecord, 'id'> | undefined },
): TracedCommand {
  const span = traces.command({ id, sessionId: session?.id, command, args });
  return { span, env: span ? { ...span.env, ...env } : env };
}

/** Creates an id for a command whose client gives none. */
export const newCommandId = (): string => commandIdFrom(randomText(ID_BYTES));

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

/** Audit record of an ended command. */
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

interface CommandFactoryOptions {
  readonly registry: CommandRegistry;
  readonly executions: Executions;
  readonly quotas: Quotas;
  readonly health: SessionHealth;
  readonly limits: () => CommandLimits;
  readonly spoolDirectory: string;
  readonly metrics: Metrics;
  readonly traces: Traces;
  readonly notifier: Notifications;
  readonly audit: AuditTrail;
  readonly secrets: SecretMask;
  readonly inputs: StreamedInputs;
}

/** The place in which a command runs, and the principals concerned. */
export interface CommandPlace {
  readonly caller: Caller;
  /** The principal that owns the command. */
  readonly owner: Principal;
  /** Undefined for a one-shot. */
  readonly session: SessionRecord | undefined;
  /** Set when the shell rejects the text of the request. */
  readonly refused?: RefusedText;
  /** Class of the policy's verdict; undefined when it was not judged. */
  readonly commandClass?: CommandClass | undefined;
}

/** What was done before a command, after a confirmation or in place of one. */
export type Preparation = Pick<Approval, 'checkpointId' | 'warnings'> & Partial<Pick<Approval, 'confirmationId'>>;

/** Creates commands from admitted requests, within queue and one-shot limits. */
export class CommandFactory {
  readonly #options: CommandFactoryOptions;
  /** Number of running one-shots by owner id. */
  readonly #oneShotsOf = new Map<string, number>();

  constructor(options: CommandFactoryOptions) {
    this.#options = options;
  }

  /**
   * Accepts a command: it is not started yet, but it is counted, recorded in the audit trail, and found by its id.
   * @throws AdapterError SESSION_BUSY, SESSION_LIMIT, BAD_DIRECTORY, INVALID_REQUEST; the command is then not accepted
   */
  accept(request: CommandRequest, place: CommandPlace, preparation: Preparation | undefined): CommandRecord {
    const { registry, audit } = this.#options;
    const { caller, owner, session, refused, commandClass } = place;
    const limits = this.#options.limits();
    this.#checkRoom(session, owner, limits);
    const spec = this.#specOf(request, place, limits);
    // Not earlier: the span of a command that is refused would never end.
    const { env, span } = beginSpan(this.#options.traces, request, { id: spec.id, session });
    const record: CommandRecord = {
      command: new Command({ ...spec, env }, this.#outputOptionsOf(owner, session)),
      owner,
      sessionId: session?.id ?? null,
      style: styleOf(request.output),
      request,
      warnings: [
        ...(session ? this.#options.health.takeWarnings(session) : []),
        ...warningsOf(preparation),
        ...warningsOf(refused),
      ],
      checkpointId: preparation?.checkpointId,
      confirmationId: preparation?.confirmationId,
      commandClass,
    };
    registry.add(record);
    audit.record(commandStarted(record, caller));
    if (!session) this.#countOneShot(owner, 1);
    this.#atEnd(record, session ? 'session' : 'one_shot', span);
    return record;
  }

  #outputOptionsOf(owner: Principal, session: SessionRecord | undefined): CommandOutputOptions {
    const { registry, spoolDirectory, metrics, secrets } = this.#options;
    const budget = session?.budget ?? registry.budgetOf(owner, this.#options.limits().spoolMaxBytes);
    return { spoolDirectory, budget, metrics, secrets: secrets.patterns };
  }

  #specOf(request: CommandRequest, place: CommandPlace, limits: CommandLimits): CommandSpec {
    const id = request.command_id ?? newCommandId();
    const { owner, session, refused } = place;
    const sandbox = this.#sandboxOf(request, owner, session);
    return {
      id,
      command: request.command,
      args: request.args,
      ...refused?.program,
      cwd: this.#directoryOf(request, place, sandbox),
      stdin: request.stdin,
      stdinPipe: request.stdin_stream === true ? this.#inputOf(id, owner) : undefined,
      timeoutMs: timeoutOf(request, limits),
      noOutputTimeoutMs: request.no_output_timeout_ms,
      tty: request.tty ?? false,
      isMerged: request.output?.merge,
      sandbox,
      limits: outputLimitsOf(request, limits.output),
      resourceLimits: resourceLimitsOf(request, session?.limits, limits),
    };
  }

  #directoryOf(
    { cwd }: CommandRequest,
    { owner, session }: CommandPlace,
    sandbox: SandboxProfile | undefined,
  ): string | undefined {
    if (cwd === undefined) return undefined;
    const execution = this.#options.executions.of(owner);
    const base = session?.session.workingDirectory ?? execution.pool.cwd;
    // Outside of the workspace, a new sandbox may show other directories than the machine has, or hide those.
    const isElsewhere = !session && sandbox !== 'none' && !leadsInto(execution.pool.cwd, resolve(base, cwd));
    return isElsewhere ? resolve(base, cwd) : enterableDirectory(cwd, base, execution, session?.session.see);
  }

  #atEnd(record: CommandRecord, place: 'session' | 'one_shot', span: CommandSpan | undefined): void {
    const { metrics, audit, inputs, notifier } = this.#options;
    const { command, owner } = record;
    command.onRefused = (refusal) => {
      const event = connectionRefused(record, refusal);
      if (event) audit.record(event);
    };
    command.atEnd('release', () => {
      if (place === 'one_shot') this.#countOneShot(owner, -1);
      inputs.close(command.id, owner.id);
    });
    command.atEnd('metrics', ({ status, durationMs, use, breach }) => {
      metrics.count('commands_finished_total', { kind: place, status });
      metrics.observe('command_duration_seconds', durationMs / 1000, { kind: place });
      metrics.count('commands_cpu_seconds_total', {}, (use.cpuMs ?? 0) / 1000);
      if (!breach) return;
      metrics.count('limits_exceeded_total', { limit: breach.resource });
      notifier.notify(
        limitNotification(breach, {
          sessionId: record.sessionId,
          commandId: command.id,
          command: command.spec.command,
        }),
      );
    });
    if (span) command.atEnd('metrics', span.end);
    command.atEnd('audit', () => {
      audit.record(commandEnded(record));
    });
  }

  #sandboxOf(
    { sandbox }: CommandRequest,
    owner: Principal,
    session: SessionRecord | undefined,
  ): SandboxProfile | undefined {
    if (!session || sandbox === undefined) {
      return chooseProfile(sandbox, this.#options.executions.of(owner).oneShots.sandbox);
    }
    throw new AdapterError('INVALID_REQUEST', 'a session keeps its sandbox: give `sandbox` to open_session', {
      details: { field: 'sandbox' },
    });
  }

  /** Returns the pipe that the client feeds. A late confirmation finds no pipe any more. */
  #inputOf(commandId: string, { id: ownerId }: Principal): StdinPipe {
    const input = this.#options.inputs.find(commandId, ownerId);
    if (input) return input.pipe;
    const message = 'the client that was to stream the standard input has gone: it has to send the command again';
    throw new AdapterError('NO_RUNNING_COMMAND', message, { details: { command_id: commandId } });
  }

  #countOneShot({ id }: Principal, by: 1 | -1): void {
    const count = (this.#oneShotsOf.get(id) ?? 0) + by;
    if (count > 0) this.#oneShotsOf.set(id, count);
    else this.#oneShotsOf.delete(id);
  }

  #checkRoom(session: SessionRecord | undefined, owner: Principal, { queueLimit, maxOneShots }: CommandLimits): void {
    if (session) {
      checkQueue(session, queueLimit);
      return;
    }
    if (this.#options.executions.running >= maxOneShots) {
      throw new AdapterError('SESSION_LIMIT', `${maxOneShots} one-shot commands run already (max_sessions)`, {
        details: { max_one_shots: maxOneShots },
      });
    }
    this.#options.quotas.admitOneShot(owner, this.#oneShotsOf.get(owner.id) ?? 0);
  }
}

function checkQueue({ session: { queued, running } }: SessionRecord, limit: number): void {
  if (queued.length < limit) return;
  throw new AdapterError('SESSION_BUSY', `${limit} commands wait in this session already (queue_limit)`, {
    details: { running_command_id: running?.id ?? null, queued: queued.length },
  });
}

/** Whether a path is in a directory, also when its links are followed. */
function leadsInto(directory: string, path: string): boolean {
  const [root, real] = [followLinks(directory, []), followLinks(path, [])];
  return real !== undefined && (real === root || real.startsWith(`${root}/`));
}

const warningsOf = (source: { readonly warnings: readonly Warning[] } | undefined): readonly Warning[] =>
  source?.warnings ?? [];
