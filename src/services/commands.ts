import type { Principal } from '../core/access/principal.js';
import type { AuditTrail } from '../core/audit/event.js';
import { AdapterError } from '../core/errors.js';
import { commandIdFrom, ID_BYTES } from '../core/ids.js';
import type { Metrics } from '../core/metrics.js';
import type { SignalName } from '../core/protocol/fields.js';
import type { Answer, Request } from '../core/protocol/requests.js';
import type { CommandResult } from '../core/protocol/results.js';
import type { SecretMask } from '../core/secrets/secret-mask.js';
import { Command, ENDING_SIGNALS } from '../engine/command.js';
import type { OneShotRunner } from '../engine/one-shot.js';
import type { OutputStream } from '../engine/output-stream.js';
import { randomBytes } from '../engine/random.js';
import { SpoolBudget } from '../engine/spool.js';
import type { Quotas } from './access/quotas.js';
import type { Caller, EventSink } from './audience.js';
import { commandEnded, commandStarted } from './command-audit.js';
import { settled, settledWithin } from './command-end.js';
import { type CommandRecord, fingerprintOf, renderResult, styleOf } from './command-record.js';
import { type CommandLimits, outputLimitsOf, timeoutOf } from './command-limits.js';
import type { CommandRegistry } from './command-registry.js';
import { CommandRuns } from './command-runs.js';
import type { CommandGate } from './gate.js';
import type { SessionHealth } from './session-health.js';
import type { SessionRecord } from './session-registry.js';
import { existingDirectory, type Sessions } from './sessions.js';

/** Bytes that `read_output` gives by default. */
const DEFAULT_READ_BYTES = 64 * 1024;

/** What the command service is made of. */
export interface CommandsOptions {
  readonly sessions: Sessions;
  readonly registry: CommandRegistry;
  readonly oneShots: OneShotRunner;
  readonly gate: CommandGate;
  readonly quotas: Pick<Quotas, 'admitOneShot'>;
  readonly health: SessionHealth;
  readonly limits: () => CommandLimits;
  readonly workspace: string;
  readonly spoolDirectory: string;
  readonly metrics: Metrics;
  readonly audit: AuditTrail;
  readonly secrets: SecretMask;
}

/** Runs commands: the one way to execution for every transport. */
export class Commands {
  readonly #options: CommandsOptions;
  readonly #runs: CommandRuns;
  /** One-shots under way, by the id of their owner. */
  readonly #oneShotsOf = new Map<string, number>();
  /** All one-shots of a principal share one, by its id. */
  readonly #oneShotBudgets = new Map<string, SpoolBudget>();

  constructor(options: CommandsOptions) {
    this.#options = options;
    this.#runs = new CommandRuns(options);
  }

  /** Bytes of output that are kept of one-shots. */
  get spoolBytes(): number {
    return [...this.#oneShotBudgets.values()].reduce((sum, { usedBytes }) => sum + usedBytes, 0);
  }

  /** Runs a command, or gives the result of the one that was asked for under the same id. */
  async execute(request: Request<'execute_command'>, caller: Caller): Promise<CommandResult> {
    const { principal, sink } = caller;
    const known = this.#findKnown(request, principal);
    if (known) return this.#repeat(known, request, sink);
    const session = this.#sessionOf(request, principal);
    // The commands of a session are its owner's, whoever has asked for them.
    const owner = session?.owner ?? principal;
    const others = owner === principal ? undefined : this.#findKnown(request, owner);
    if (others) return this.#repeat(others, request, sink);
    const admission = this.#options.gate.admit(request, session, caller);
    if (admission) {
      await admission;
      // Meanwhile the session may have ended, and the same request may have come again and been let in.
      this.#sessionOf(request, principal);
      const twin = this.#findKnown(request, owner);
      if (twin) return this.#repeat(twin, request, sink);
    }
    const record = this.#accept(request, caller, owner, session);
    if (session) this.#runs.inSession(record, session, request, sink);
    else if (request.tty === true) this.#runs.onOwnTerminal(record, request, caller);
    else this.#runs.alone(record, request, sink);
    return this.#answer(record, request);
  }

  /** Waits for a command; gives its result, or what has come so far. */
  async wait({ command_id, timeout_ms }: Request<'wait_command'>, principal: Principal): Promise<CommandResult> {
    const record = this.#options.registry.get(command_id, principal, 'see');
    if (timeout_ms === undefined) await settled(record.command);
    else if (timeout_ms > 0) await settledWithin(settled(record.command), timeout_ms);
    return renderResult(record);
  }

  /** Reads exact bytes of an output. */
  async readOutput(request: Request<'read_output'>, principal: Principal): Promise<Answer<'read_output'>> {
    const { command } = this.#options.registry.get(request.command_id, principal, 'see');
    const output = command[request.stream ?? 'stdout'];
    const offset = request.offset ?? 0;
    assertKept(output, offset);
    const data = await output.spool.read(offset, request.length ?? DEFAULT_READ_BYTES);
    // Meanwhile it may have made room for newer output.
    if (data.length === 0) assertKept(output, offset);
    const eof = command.outcome !== undefined && offset + data.length >= output.bytes;
    return { data, offset, size: output.bytes, eof };
  }

  /** Types into a running command's terminal. */
  sendInput(
    request: Request<'send_input'>,
    principal: Principal,
  ): Answer<'send_input'> | Promise<Answer<'send_input'>> {
    const type = () => {
      const { session } = this.#running(request, principal).session;
      return { accepted_bytes: session.sendInput(request.data ?? '', request.eof === true) };
    };
    // When the gate has taken its time, the command may have ended.
    const admission = this.#options.gate.admitInput(
      this.#running(request, principal).session,
      request.data ?? '',
      principal,
    );
    return admission ? admission.then(type) : type();
  }

  /** Signals a running command. */
  async signal(request: Request<'signal_command'>, principal: Principal): Promise<Answer<'signal_command'>> {
    const queued = this.#queued(request, principal);
    if (queued) return this.#cancelQueued(queued, request.signal);
    const { command, session } = this.#target(request, principal);
    const signalled = session
      ? await session.session.signal(command, request.signal)
      : this.#options.oneShots.signal(command, request.signal);
    if (signalled.length > 0) return { signalled };
    throw new AdapterError(
      'NO_RUNNING_COMMAND',
      `command ${command.id} has no process that could take ${request.signal}`,
    );
  }

  /** What the gate would say of a command. */
  check(request: Request<'check_command'>, principal: Principal): Promise<Answer<'check_command'>> {
    return this.#options.gate.check(request, this.#sessionOf(request, principal));
  }

  // --- accepting --------------------------------------------------------------------------------------------------

  #accept(
    request: Request<'execute_command'>,
    caller: Caller,
    owner: Principal,
    session: SessionRecord | undefined,
  ): CommandRecord {
    const { registry, workspace, spoolDirectory, metrics, audit, secrets } = this.#options;
    const limits = this.#options.limits();
    this.#checkRoom(session, owner, limits);
    const base = session?.session.workingDirectory ?? workspace;
    const id = request.command_id ?? commandIdFrom(randomBytes(ID_BYTES));
    const spec = {
      id,
      command: request.command,
      args: request.args,
      cwd: request.cwd === undefined ? undefined : existingDirectory(request.cwd, base),
      env: request.env,
      stdin: request.stdin,
      timeoutMs: timeoutOf(request, limits),
      noOutputTimeoutMs: request.no_output_timeout_ms,
      tty: request.tty ?? false,
      limits: outputLimitsOf(request, limits.output),
    };
    const budget = session?.budget ?? this.#oneShotBudgetOf(owner);
    const command = new Command(spec, spoolDirectory, budget, metrics.output, secrets.patterns);
    const record: CommandRecord = {
      command,
      owner,
      sessionId: session?.id ?? null,
      style: styleOf(request.output),
      fingerprint: fingerprintOf(request),
      warnings: session ? this.#options.health.takeWarnings(session) : [],
    };
    registry.add(record);
    audit.record(commandStarted(record, caller));
    if (!session) this.#countOneShot(owner, 1);
    void command.finished.then(({ status, durationMs }) => {
      metrics.commandEnded(session ? 'session' : 'one_shot', status, durationMs);
      audit.record(commandEnded(record));
      if (!session) this.#countOneShot(owner, -1);
    });
    return record;
  }

  #countOneShot({ id }: Principal, by: 1 | -1): void {
    const count = (this.#oneShotsOf.get(id) ?? 0) + by;
    if (count > 0) this.#oneShotsOf.set(id, count);
    else this.#oneShotsOf.delete(id);
  }

  #sessionOf({ session_id: id }: { session_id?: string | undefined }, principal: Principal): SessionRecord | undefined {
    return id === undefined ? undefined : this.#options.sessions.registry.get(id, principal, 'use');
  }

  /** The command that was asked for under the same id; one that has run, and whose result is gone, is not run again. */
  #findKnown({ command_id: id }: Request<'execute_command'>, { id: owner }: Principal): CommandRecord | undefined {
    if (id === undefined) return undefined;
    const { registry } = this.#options;
    const known = registry.find(id, owner);
    if (known || !registry.hasForgotten(id, owner)) return known;
    throw new AdapterError('COMMAND_NOT_FOUND', `command ${id} has run, and its result is no longer kept`, {
      details: { command_id: id },
    });
  }

  #oneShotBudgetOf({ id }: Principal): SpoolBudget {
    let budget = this.#oneShotBudgets.get(id);
    if (!budget) this.#oneShotBudgets.set(id, (budget = new SpoolBudget(this.#options.limits().spoolMaxBytes)));
    return budget;
  }

  #checkRoom(session: SessionRecord | undefined, owner: Principal, { queueLimit, maxOneShots }: CommandLimits): void {
    if (session && session.session.queued >= queueLimit) {
      throw new AdapterError('SESSION_BUSY', `${queueLimit} commands wait in this session already (queue_limit)`, {
        details: { running_command_id: session.session.running?.id ?? null, queued: session.session.queued },
      });
    }
    if (!session && this.#options.oneShots.running >= maxOneShots) {
      throw new AdapterError('SESSION_LIMIT', `${maxOneShots} one-shot commands run already (max_sessions)`, {
        details: { max_one_shots: maxOneShots },
      });
    }
    if (!session) this.#options.quotas.admitOneShot(owner, this.#oneShotsOf.get(owner.id) ?? 0);
  }

  async #repeat(
    record: CommandRecord,
    request: Request<'execute_command'>,
    sink: EventSink | undefined,
  ): Promise<CommandResult> {
    if (record.fingerprint !== fingerprintOf(request)) {
      throw new AdapterError(
        'INVALID_REQUEST',
        `command_id ${record.command.id} belongs to another command; choose a new one`,
        {
          details: { field: 'command_id' },
        },
      );
    }
    // Over a new connection, after the old one was lost: the rest of the output goes there.
    if (request.stream === true && sink) this.#runs.channelOf(record)?.follow(sink);
    return this.#answer(record, request);
  }

  async #answer(record: CommandRecord, request: Request<'execute_command'>): Promise<CommandResult> {
    if (request.background !== true) await settled(record.command);
    return renderResult(record);
  }

  // --- finding ----------------------------------------------------------------------------------------------------

  /** The running command that a request is about. */
  #target(
    request: { session_id?: string | undefined; command_id?: string | undefined },
    principal: Principal,
  ): {
    command: Command;
    session: SessionRecord | undefined;
  } {
    if (request.command_id === undefined) return this.#running(request, principal);
    const { command, sessionId } = this.#options.registry.get(request.command_id, principal, 'use');
    if (command.outcome || !command.hasStarted) {
      const state = command.outcome ? 'has ended' : 'has not started';
      throw new AdapterError('NO_RUNNING_COMMAND', `command ${command.id} ${state}`, {
        details: { command_id: command.id },
      });
    }
    return { command, session: this.#sessionOf({ session_id: sessionId ?? undefined }, principal) };
  }

  /** A command that still waits in its session's queue. */
  #queued(
    { command_id }: { command_id?: string | undefined },
    principal: Principal,
  ): { command: Command; session: SessionRecord } | undefined {
    if (command_id === undefined) return undefined;
    const { command, sessionId } = this.#options.registry.get(command_id, principal, 'use');
    if (command.outcome || command.hasStarted || sessionId === null) return undefined;
    return { command, session: this.#options.sessions.registry.get(sessionId, principal, 'use') };
  }

  /** A signal that would end the command takes it out of the queue: it has no process yet. */
  #cancelQueued(
    { command, session }: { command: Command; session: SessionRecord },
    signal: SignalName,
  ): Answer<'signal_command'> {
    if (!ENDING_SIGNALS.has(signal)) {
      throw new AdapterError('NO_RUNNING_COMMAND', `command ${command.id} waits for its turn`, {
        details: { command_id: command.id },
      });
    }
    session.session.cancel(command, { status: 'interrupted', killedBy: 'signal' });
    return { signalled: [] };
  }

  /** The command that runs in a session. */
  #running(
    request: { session_id?: string | undefined; command_id?: string | undefined },
    principal: Principal,
  ): {
    command: Command;
    session: SessionRecord;
  } {
    if (request.command_id !== undefined) {
      const { command, session } = this.#target(request, principal);
      if (session) return { command, session };
      throw new AdapterError(
        'NO_RUNNING_COMMAND',
        'a one-shot command has no terminal: give `stdin`, or use a session',
      );
    }
    const session = this.#options.sessions.registry.get(request.session_id ?? '', principal, 'use');
    const command = session.session.running;
    if (!command) {
      throw new AdapterError('NO_RUNNING_COMMAND', `nothing runs in session ${session.id}`, {
        details: { session_id: session.id },
      });
    }
    return { command, session };
  }
}

/** @throws AdapterError OUTPUT_EXPIRED when the stream has bytes from `offset` on, but they were not kept. */
function assertKept({ bytes, spool }: OutputStream, offset: number): void {
  const { keptBytes } = spool;
  if (offset < keptBytes || offset >= bytes) return;
  throw new AdapterError('OUTPUT_EXPIRED', `only the first ${keptBytes} of ${bytes} bytes were kept`, {
    details: { kept_bytes: keptBytes, size: bytes, why: spool.error ?? '' },
  });
}
