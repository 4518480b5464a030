import { resolve } from 'node:path';

import type { Principal } from '../../core/principal.js';
import { AdapterError } from '../../core/errors.js';
import { commandIdFrom, ID_BYTES } from '../../core/ids.js';
import type { CommandClass } from '../../core/policy/model.js';
import type { CommandRequest } from '../../core/protocol/requests.js';
import { chooseProfile } from '../../core/sandbox.js';
import type { SandboxProfile } from '../../core/sandbox-profiles.js';
import { Command, type CommandOutputOptions, type CommandSpec } from '../../engine/command/command.js';
import type { Warning } from '../../engine/command/outcome.js';
import type { SpoolBudget } from '../../engine/output/spool.js';
import type { StdinPipe } from '../../engine/output/stdin-pipe.js';
import { followLinks } from '../../engine/system/local-files.js';
import { randomText } from '../../engine/system/random.js';
import type { Quotas } from '../access/admission.js';
import { enterableDirectory, type Executions } from '../executions.js';
import type { RefusedText } from '../gate/gate-options.js';
import type { ResourceMonitor } from '../limits/resource-monitor.js';
import type { Caller, EventSink } from '../registry/caller.js';
import { type CommandRecord, renderResult, styleOf } from '../registry/command-record.js';
import type { CommandRegistry } from '../registry/command-registry.js';
import { OutputChannel } from '../registry/output-channel.js';
import {
  type CommandLimits,
  outputLimitsOf,
  renderBreach,
  resourceLimitsOf,
  timeoutOf,
} from '../registry/rendered-limits.js';
import type { SessionRecord } from '../registry/session-registry.js';
import type { SessionHealth } from '../sessions/session-health.js';
import type { Sessions } from '../sessions/sessions.js';
import type { CommandTrail } from './command-trail.js';
import type { StreamedInputs } from './running-commands.js';

/** Creates an id for a command whose client gives none. */
export const newCommandId = (): string => commandIdFrom(randomText(ID_BYTES));

/** The place in which a command runs, and the principals concerned. */
export interface CommandPlace {
  readonly caller: Caller;
  readonly owner: Principal;
  /** Undefined for a one-shot. */
  readonly session: SessionRecord | undefined;
  /** Set when the shell rejects the text of the request. */
  readonly refused?: RefusedText;
  /** Class of the policy's verdict; undefined when it was not judged. */
  readonly commandClass?: CommandClass | undefined;
}

/** What was done before a command, after a confirmation or in place of one. */
export interface Preparation {
  readonly checkpointId: string | undefined;
  readonly warnings: readonly Warning[];
  readonly confirmationId?: string;
}

/** Runs admitted commands, within queue and one-shot limits, and tells the clients that follow them. */
export class CommandRunner {
  readonly #sessions: Sessions;
  readonly #executions: Executions;
  readonly #registry: CommandRegistry;
  readonly #quotas: Quotas;
  readonly #health: SessionHealth;
  readonly #monitor: ResourceMonitor;
  readonly #inputs: StreamedInputs;
  readonly #trail: CommandTrail;
  readonly #limits: () => CommandLimits;
  readonly #outputOf: (budget: SpoolBudget) => CommandOutputOptions;
  /** Number of running one-shots by owner id. */
  readonly #oneShotsOf = new Map<string, number>();

  constructor(
    sessions: Sessions,
    executions: Executions,
    registry: CommandRegistry,
    quotas: Quotas,
    health: SessionHealth,
    monitor: ResourceMonitor,
    inputs: StreamedInputs,
    trail: CommandTrail,
    limits: () => CommandLimits,
    outputOf: (budget: SpoolBudget) => CommandOutputOptions,
  ) {
    this.#sessions = sessions;
    this.#executions = executions;
    this.#registry = registry;
    this.#quotas = quotas;
    this.#health = health;
    this.#monitor = monitor;
    this.#inputs = inputs;
    this.#trail = trail;
    this.#limits = limits;
    this.#outputOf = outputOf;
  }

  /**
   * Accepts a command, and runs it when it is its turn.
   * @param onAccepted called before it may start
   * @throws AdapterError SESSION_BUSY, SESSION_LIMIT, BAD_DIRECTORY, INVALID_REQUEST; the command is then not accepted
   */
  run(
    request: CommandRequest,
    place: CommandPlace,
    preparation: Preparation | undefined,
    onAccepted: (command: Command) => void,
  ): CommandRecord {
    const { caller, session } = place;
    const record = this.#accept(request, place, preparation);
    onAccepted(record.command);
    if (session) this.#inSession(record, session, request, caller.sink);
    else if (request.tty === true) this.#onOwnTerminal(record, request, caller);
    else this.#alone(record, request, caller.sink);
    return record;
  }

  // --- accepting --------------------------------------------------------------------------------------------------

  /** The command is not started yet, but it is counted, recorded in the audit trail, and found by its id. */
  #accept(request: CommandRequest, place: CommandPlace, preparation: Preparation | undefined): CommandRecord {
    const { caller, owner, session, commandClass } = place;
    const limits = this.#limits();
    this.#checkRoom(session, owner, limits);
    const spec = this.#specOf(request, place, limits);
    // Not earlier: the span of a command that is refused would never end.
    const span = this.#trail.beginSpan(spec.id, session?.id, request);
    const env = span ? { ...span.env, ...request.env } : request.env;
    const budget = session?.budget ?? this.#registry.budgetOf(owner, limits.spoolMaxBytes);
    const record: CommandRecord = {
      command: new Command({ ...spec, env }, this.#outputOf(budget)),
      owner,
      sessionId: session?.id ?? null,
      style: styleOf(request.output),
      request,
      warnings: this.#warningsOf(place, preparation),
      checkpointId: preparation?.checkpointId,
      confirmationId: preparation?.confirmationId,
      commandClass,
    };
    this.#registry.add(record);
    this.#trail.follow(record, caller, span);
    if (!session) this.#countOneShot(owner, 1);
    record.command.atEnd('release', () => {
      if (!session) this.#countOneShot(owner, -1);
      this.#inputs.close(record.command.id, owner.id);
    });
    return record;
  }

  /** What is known before the command has run. */
  #warningsOf({ session, refused }: CommandPlace, preparation: Preparation | undefined): readonly Warning[] {
    const ofSession = session ? this.#health.takeWarnings(session) : [];
    return [...ofSession, ...(preparation?.warnings ?? []), ...(refused?.warnings ?? [])];
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
    const execution = this.#executions.of(owner);
    const base = session?.session.workingDirectory ?? execution.pool.cwd;
    // Outside of the workspace, a new sandbox may show other directories than the machine has, or hide those.
    const isElsewhere = !session && sandbox !== 'none' && !leadsInto(execution.pool.cwd, resolve(base, cwd));
    return isElsewhere ? resolve(base, cwd) : enterableDirectory(cwd, base, execution, session?.session.see);
  }

  #sandboxOf(
    { sandbox }: CommandRequest,
    owner: Principal,
    session: SessionRecord | undefined,
  ): SandboxProfile | undefined {
    if (!session || sandbox === undefined) {
      return chooseProfile(sandbox, this.#executions.of(owner).oneShots.sandbox);
    }
    throw new AdapterError('INVALID_REQUEST', 'a session keeps its sandbox: give `sandbox` to open_session', {
      details: { field: 'sandbox' },
    });
  }

  /** Returns the pipe that the client feeds. A late confirmation finds no pipe any more. */
  #inputOf(commandId: string, { id: ownerId }: Principal): StdinPipe {
    const input = this.#inputs.find(commandId, ownerId);
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
    if (this.#executions.running >= maxOneShots) {
      throw new AdapterError('SESSION_LIMIT', `${maxOneShots} one-shot commands run already (max_sessions)`, {
        details: { max_one_shots: maxOneShots },
      });
    }
    this.#quotas.admitOneShot(owner, this.#oneShotsOf.get(owner.id) ?? 0);
  }

  // --- running ----------------------------------------------------------------------------------------------------

  /** Runs a command in a session, after the commands that were queued before it. */
  #inSession(
    record: CommandRecord,
    session: SessionRecord,
    request: CommandRequest,
    sink: EventSink | undefined,
  ): void {
    const { command } = record;
    const { channel } = session;
    record.host = {
      session,
      channel,
      signal: (signal) => session.session.signal(command, signal),
      end: (reason) => {
        session.session.cancel(command, reason);
      },
    };
    this.#sessions.touch(session);
    channel.begin(command);
    if (request.stream === true && sink) channel.follow(sink);
    // Attached clients follow every command of the session.
    if (request.stream === true || channel.hasOthersThan(sink)) channel.open(command, record.style.encoding);
    else channel.openForObservers(command);
    const isAnnounced = request.stream === true || request.background === true;
    command.atEnd('event', () => {
      // The requester gets the answer and needs no event; other followers of the session do.
      if (isAnnounced || channel.hasOthersThan(sink)) channel.announce('command_finished', renderResult(record));
      else if (channel.observers > 0) channel.announceToObservers('command_finished', renderResult(record));
    });
    command.atEnd('session', () => {
      this.#sessions.touch(session);
    });
    command.atEnd('late_output', () => {
      channel.open(command, record.style.encoding);
    });
    session.session.enqueue(command);
  }

  /** Runs a command as a one-shot, in a process of its own. */
  #alone(record: CommandRecord, request: CommandRequest, sink: EventSink | undefined): void {
    const { command } = record;
    const { oneShots } = this.#executions.of(record.owner);
    const isFollowed = sink !== undefined && (request.stream === true || request.background === true);
    const channel = isFollowed
      ? new OutputChannel(null, 0, (held, isHeld) => {
          oneShots.holdForClient(held, isHeld);
        })
      : undefined;
    record.host = {
      session: undefined,
      channel,
      signal: (signal) => oneShots.signal(command, signal),
      end: (reason) => {
        oneShots.terminate(command, reason);
      },
    };
    if (isFollowed && channel) {
      channel.follow(sink);
      channel.begin(command);
      if (request.stream === true) channel.open(command, record.style.encoding);
    }
    command.atEnd('event', () => {
      record.host = undefined;
      channel?.announce('command_finished', renderResult(record));
      channel?.[Symbol.dispose]();
    });
    void oneShots.run(command, (watched) => {
      this.#monitor.watch(watched, {
        onNear: (breach, level) => {
          const warning = { session_id: null, command_id: command.id, level, ...renderBreach(breach) };
          channel?.announce('resource_warning', warning);
        },
      });
    });
  }

  /** Runs a one-shot on a terminal: in a session that is opened for the command and closed after it. */
  #onOwnTerminal(record: CommandRecord, request: CommandRequest, caller: Caller): void {
    const run = async () => {
      const { resourceLimits: limits } = record.command.spec;
      const session = await this.#sessions.open({ limits, sandbox: request.sandbox }, caller, {}, true);
      this.#inSession(record, session, request, caller.sink);
      await record.command.finished;
      record.host = undefined;
      await this.#sessions.close(session.id, 'client', 'its one-shot command has ended');
    };
    run().catch((error: unknown) => {
      const message = (error as Error).message;
      const warnings: Warning[] = [{ code: 'NOT_STARTED', message }];
      record.command.finish({ exitCode: 126, sessionState: null, workingDirectory: null, warnings });
    });
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
