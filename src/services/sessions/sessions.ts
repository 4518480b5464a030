import type { Principal } from '../../core/principal.js';
import { auditPrincipal, type AuditTrail } from '../../core/audit-events.js';
import { nodeOf } from '../../core/cluster/address.js';
import { AdapterError } from '../../core/errors.js';
import { ID_BYTES, type IdOptions, sessionIdFrom } from '../../core/ids.js';
import type { LimitName, Limits } from '../../core/limits.js';
import type { Log } from '../../core/log.js';
import type { Metrics } from '../../core/metrics.js';
import type { Answer, Request, SessionRequest } from '../../core/protocol/requests.js';
import type { SessionEndReason } from '../../core/protocol/results.js';
import { chooseProfile } from '../../core/sandbox.js';
import type { Command } from '../../engine/command/command.js';
import { SpoolBudget } from '../../engine/output/spool.js';
import type { ReportedProcess } from '../../engine/process/background-processes.js';
import { Session, type SessionListener } from '../../engine/session/session.js';
import { randomBytes } from '../../engine/system/random.js';
import type { Quotas } from '../access/admission.js';
import type { Confirmations } from '../confirmations/confirmations.js';
import { assertEnterable, enterableDirectory, type Executions, shellFor } from '../executions.js';
import type { ShellGate } from '../gate/startup-gate.js';
import type { SessionHealth } from './session-health.js';
import type { SessionUsage } from '../limits/session-usage.js';
import type { Recordings } from '../recordings.js';
import { type Caller, type EventSink, sinkFor } from '../registry/caller.js';
import type { CommandRegistry } from '../registry/command-registry.js';
import { OutputChannel } from '../registry/output-channel.js';
import { boundLimits } from '../registry/rendered-limits.js';
import { END_REASONS, killFields, REASONS, type SessionRecord, SessionRegistry } from '../registry/session-registry.js';
import type { SessionRecorder } from '../session-recorder.js';
import { asHeld, type HeldSession } from './session-description.js';
import { type DeadlineLimits, type Expiry, expiryOf, SessionDeadlines } from './session-deadlines.js';

/** Attaches clients to sessions: as followers, for which a session waits, or as observers. */
class SessionAttachments {
  readonly #sessions: SessionRegistry;
  readonly #usage: SessionUsage;
  readonly #deadlines: SessionDeadlines;

  constructor(sessions: SessionRegistry, usage: SessionUsage, deadlines: SessionDeadlines) {
    this.#sessions = sessions;
    this.#usage = usage;
    this.#deadlines = deadlines;
  }

  /**
   * Makes a client follow a session, and replays the events it missed; or makes it observe the session.
   * @throws AdapterError SESSION_NOT_FOUND; INVALID_REQUEST for a caller without events
   */
  attach(request: Request<'attach_session'>, caller: Caller): Answer<'attach_session'> {
    const record = this.#sessions.get(request.session_id, caller.principal, 'see');
    const sink = sinkFor('attach_session', caller);
    const { from_seq: fromSeq, max_bytes_per_second: rate } = request;
    if (rate !== undefined) return this.#observe(record, sink, rate, fromSeq);
    const { channel } = record;
    for (const command of commandsIn(record)) channel.open(command);
    const replay = fromSeq === undefined ? undefined : channel.replay(sink, fromSeq);
    channel.follow(sink);
    record.abandonedSince = undefined;
    return {
      session_id: record.id,
      next_seq: channel.nextSeq,
      replayed: replay?.events.length ?? 0,
      gap: replay?.gap ? { from_seq: replay.gap.fromSeq, to_seq: replay.gap.toSeq } : null,
    };
  }

  /**
   * Ends what `attach` has begun: the client neither follows nor observes the session any more.
   * @throws AdapterError SESSION_NOT_FOUND
   */
  leave({ session_id: id }: Request<'detach_session'>, { principal, sink }: Caller): Answer<'detach_session'> {
    const record = this.#sessions.get(id, principal, 'see');
    if (sink && record.channel.unfollow(sink)) this.#noteUnfollowed(record);
    return { session_id: id };
  }

  /** Handles the end of a connection: its sessions wait for a reconnect. */
  detach(sink: EventSink): void {
    this.#usage.remove(sink);
    for (const record of this.#sessions.all()) {
      if (record.channel.unfollow(sink)) this.#noteUnfollowed(record);
    }
  }

  /** Observers do not keep a session open. */
  #observe(record: SessionRecord, sink: EventSink, rate: number, fromSeq?: number): Answer<'attach_session'> {
    const { channel } = record;
    const wasFollowed = channel.followers > 0;
    const nextSeq = channel.observe(sink, rate, fromSeq);
    if (wasFollowed) this.#noteUnfollowed(record);
    for (const command of commandsIn(record)) channel.openForObservers(command);
    return { session_id: record.id, next_seq: nextSeq, replayed: 0, gap: null };
  }

  /** A session that no client follows any more ends unless one comes back in time. */
  #noteUnfollowed(record: SessionRecord): void {
    if (record.channel.followers > 0 || record.isHidden) return;
    record.abandonedSince = performance.now();
    this.#deadlines.schedule();
  }
}

/** The commands that run, or wait. */
const commandsIn = ({ session: { running, queued } }: SessionRecord): readonly Command[] =>
  running ? [running, ...queued] : queued;

/** Bounds of sessions, from the configuration. Times are in milliseconds. */
export interface SessionLimits extends DeadlineLimits {
  readonly maxSessions: number;
  readonly killGraceMs: number;
  readonly wedgeTimeoutMs: number;
  readonly spoolMaxBytes: number;
  readonly replayMaxBytes: number;
  /** Limits on all processes of a session together. */
  readonly resources: Limits;
  /** Limits that the platform cannot enforce. */
  readonly unenforceable: readonly LimitName[];
}

export interface SessionsOptions extends IdOptions {
  readonly executions: Executions;
  readonly commands: CommandRegistry;
  readonly limits: () => SessionLimits;
  readonly gate: ShellGate;
  readonly confirmations: Confirmations;
  readonly metrics: Metrics;
  readonly usage: SessionUsage;
  readonly health: SessionHealth;
  readonly recordings: Recordings;
  readonly audit: AuditTrail;
  readonly quotas: Quotas;
  /** Called when a session has ended, so that its place is free. */
  readonly onEnded?: ((session: HeldSession) => void) | undefined;
  readonly log: Log;
}

/** Restarts the idle time of a session after a command was run or has ended. */
function touch(record: SessionRecord): void {
  record.lastUsedAt = new Date();
  // A client that uses the session without following it still counts as present.
  if (record.abandonedSince !== undefined) {
    record.abandonedSince = record.channel.followers > 0 ? undefined : performance.now();
  }
  record.lastUsedTicks = performance.now();
}

/** Default terminal size, in characters: wide, so that tools do not wrap their output. */
const DEFAULT_COLS = 200;
const DEFAULT_ROWS = 50;

/** Opens, finds and ends sessions, and enforces their deadlines. */
export class Sessions implements AsyncDisposable {
  readonly registry = new SessionRegistry();
  readonly attachments: SessionAttachments;
  readonly #options: SessionsOptions;
  readonly #closing = new Map<string, Promise<void>>();
  /** Sessions that are being opened. */
  readonly #opening = new Set<{ readonly id: string; readonly owner: Principal; readonly isHidden: boolean }>();
  readonly #deadlines: SessionDeadlines;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#deadlines = new SessionDeadlines(
      () => this.registry.all(),
      options.limits,
      ({ id }, reason) => {
        this.#giveUp(id, reason, REASONS[reason](options.limits()));
      },
    );
    this.attachments = new SessionAttachments(this.registry, options.usage, this.#deadlines);
  }

  /**
   * Opens a session that belongs to the caller, and makes the caller follow it.
   * @param given variables of the configuration, which those of the client replace
   * @param isHidden whether the session belongs to a one-shot command, and lives as long as the command
   */
  async open(
    request: SessionRequest,
    caller: Caller,
    given: Readonly<Record<string, string>> = {},
    isHidden = false,
  ): Promise<SessionRecord> {
    const { log, executions } = this.#options;
    await this.#options.gate.admit(request, caller);
    const execution = executions.of(caller.principal);
    const { pool } = execution;
    const limits = this.#options.limits();
    this.#options.quotas.admitSession(caller.principal, this.#countOf(caller.principal));
    if (this.registry.size + this.#opening.size + this.#closing.size >= limits.maxSessions) {
      const message = `${limits.maxSessions} sessions are open already (max_sessions); close one`;
      throw new AdapterError('SESSION_LIMIT', message, { details: { max_sessions: limits.maxSessions } });
    }
    const resources = boundLimits(request.limits, limits);
    const installed = shellFor(request.shell, execution);
    const sandbox = chooseProfile(request.sandbox, pool.sandbox);
    const cwd = enterableDirectory(request.cwd ?? pool.cwd, pool.cwd, execution);
    const id = this.#newId(caller, isHidden);
    const opening = { id, owner: caller.principal, isHidden };
    this.#opening.add(opening);
    try {
      const { killGraceMs, wedgeTimeoutMs } = limits;
      const { cols = DEFAULT_COLS, rows = DEFAULT_ROWS, label } = request;
      const env = { ...given, ...request.env };
      const described = { id, owner: caller.principal, label, shell: installed.path, cols, rows };
      const recorder = isHidden ? undefined : await this.#options.recordings.begin(described, request.record);
      const session = await Session.open(
        { installed, sandbox, cwd, env, cols, rows, killGraceMs, wedgeTimeoutMs, limits: resources, pool, log },
        this.#listenerOf(id, recorder),
      ).catch(async (error: unknown) => {
        await this.#options.recordings.discard(recorder);
        throw error;
      });
      return this.#register(session, caller, request, { id, isHidden, recorder });
    } finally {
      this.#opening.delete(opening);
    }
  }

  /** Ends a session with all its processes; does nothing when it has already ended. */
  async close(id: string, reason: SessionEndReason, detail: string): Promise<void> {
    const record = this.registry.remove(id, reason, detail);
    if (!record) return;
    this.#options.metrics.count('sessions_closed_total', { reason });
    this.#options.confirmations.endSession(id);
    const principal = auditPrincipal(record.owner);
    this.#options.audit.record({ event: 'session_closed', principal, session_id: id, details: { reason } });
    const closing = this.#end(record, reason, detail).finally(() => this.#closing.delete(id));
    this.#closing.set(id, closing);
    await closing;
  }

  /** Replaces the shell of a session; the session keeps its id. */
  async reset(request: Request<'reset_session'>, principal: Principal): Promise<Answer<'reset_session'>> {
    this.registry.get(request.session_id, principal, 'stop');
    await this.#options.gate.admit({ env: request.env }, { principal });
    // Meanwhile the session may have ended.
    const record = this.registry.get(request.session_id, principal, 'stop');
    const { options } = record.session;
    const { session } = record;
    const wanted = request.cwd ?? options.cwd;
    const execution = this.#options.executions.of(record.owner);
    const cwd = enterableDirectory(wanted, session.workingDirectory, execution, session.see);
    if (options.sandbox === 'none') await assertEnterable(cwd, execution);
    await record.session.reset(cwd, request.env ?? options.env);
    touch(record);
    return {
      session_id: record.id,
      shell: options.installed.shell.name,
      working_directory: record.session.workingDirectory,
    };
  }

  /** What a cluster counts: the sessions of clients that are open or being opened. */
  held(): HeldSession[] {
    return [...this.registry.all(), ...this.#opening].flatMap((one) => (one.isHidden ? [] : [asHeld(one)]));
  }

  /** When a session ends if nothing happens until then, and why. */
  expiryOf(record: SessionRecord): Expiry {
    return expiryOf(record, this.#options.limits());
  }

  /** Restarts the idle time after a command was run or has ended. */
  touch(record: SessionRecord): void {
    touch(record);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#deadlines[Symbol.dispose]();
    const open = this.registry.all();
    await Promise.all(open.map(({ id }) => this.close(id, 'shutdown', 'the daemon was stopped')));
    await Promise.all(this.#closing.values());
  }

  /** Number of a principal's sessions, including those that are being opened. */
  #countOf({ id }: Principal): number {
    const open = this.registry.all().filter(({ owner }) => owner.id === id);
    return open.length + [...this.#opening].filter(({ owner }) => owner.id === id).length;
  }

  /** The id that was reserved for the session, if it is one of this run of the node. */
  #newId({ reservedSessionId: reserved }: Caller, isHidden: boolean): string {
    const { node } = this.#options;
    const isUsable = !isHidden && reserved !== undefined && nodeOf(reserved) === node && !this.registry.find(reserved);
    return isUsable ? reserved : sessionIdFrom(randomBytes(ID_BYTES), node);
  }

  #register(
    session: Session,
    { principal, sink }: Caller,
    { label, keep_while: keepWhile }: SessionRequest,
    known: Pick<SessionRecord, 'id' | 'isHidden' | 'recorder'>,
  ): SessionRecord {
    const limits = this.#options.limits();
    const now = performance.now();
    const createdAt = new Date();
    const { shell: kind } = session.options.installed;
    const record: SessionRecord = {
      ...known,
      owner: principal,
      label,
      session,
      shellName: kind.name,
      sandbox: session.options.sandbox,
      limits: session.options.limits,
      channel: new OutputChannel(known.id, limits.replayMaxBytes, (command, isHeld) => {
        session.holdForClient(command, isHeld);
      }),
      budget: new SpoolBudget(limits.spoolMaxBytes),
      createdAt,
      lastUsedAt: createdAt,
      // Who opens it without a connection has none that could be lost.
      keepWhile: keepWhile ?? (sink ? 'connected' : 'used'),
      abandonedSince: (sink && sink.isGone !== true) || known.isHidden ? undefined : now,
      createdTicks: now,
      lastUsedTicks: now,
    };
    if (sink) record.channel.follow(sink);
    this.registry.add(record);
    this.#deadlines.schedule();
    const { shellName: shell } = record;
    this.#options.metrics.count('sessions_opened_total', { shell });
    this.#options.log.info('session opened', { session_id: record.id, owner: principal.name, shell, pid: session.pid });
    if (kind.isUntested === true)
      this.#options.log.warn('the driver of this shell is untested', { session_id: record.id, shell });
    return record;
  }

  /** Passes what happens in a session on to its clients, the audit log and metrics. */
  #listenerOf(id: string, recorder: SessionRecorder | undefined): SessionListener {
    const { usage, health, metrics, audit } = this.#options;
    return {
      tap: recorder,
      onLingering: () => {
        const record = this.registry.find(id);
        if (record) usage.watch(record);
      },
      onRested: () => {
        const record = this.registry.find(id);
        return !record || health.check(record);
      },
      onAwaitingInput: ({ id: command_id, prompt }, certainty) => {
        const event = { command_id, session_id: id, prompt, certainty };
        this.registry.find(id)?.channel.announce('awaiting_input', event);
      },
      onShellReplaced: (why) => {
        metrics.count('shell_restarts_total', { cause: why });
      },
      onRefused: ({ destination, reason, message }) => {
        const record = this.registry.find(id);
        const principal = record && auditPrincipal(record.owner);
        const details = { destination, reason, message };
        audit.record({ event: 'egress_refused', principal, session_id: id, details });
      },
      onFailed: (error) => {
        this.#giveUp(id, 'failed', `its shell could not be started again: ${error.message}`);
      },
      onExceeded: ({ resource, limit }) => {
        this.#giveUp(id, 'limit', `it exceeded its limit on ${resource}, ${limit}, though all in it was ended`);
      },
    };
  }

  #giveUp(id: string, reason: SessionEndReason, detail: string): void {
    if (!this.registry.find(id)) return;
    this.close(id, reason, detail).catch((cause: unknown) => {
      this.#options.log.error('a session could not be closed', { session_id: id, reason, error: String(cause) });
    });
  }

  async #end(record: SessionRecord, reason: SessionEndReason, detail: string): Promise<void> {
    const { id, session, channel } = record;
    let survivors: ReportedProcess[] = [];
    try {
      survivors = await session.close(END_REASONS[reason] ?? { status: 'killed', killedBy: 'client' });
    } finally {
      channel.announce('session_closed', {
        session_id: id,
        reason,
        detail,
        ...killFields(reason, session.lastKill),
        ...(survivors.length > 0 && { survivors }),
      });
      channel[Symbol.dispose]();
      await this.#options.recordings.end(record.recorder);
      this.#options.usage.forget(record);
      await this.#options.commands.forgetSession(id, record.owner.id);
      if (!record.isHidden) this.#options.onEnded?.(asHeld(record));
      this.#options.log.info('session closed', { session_id: id, reason });
    }
    if (survivors.length > 0) this.#options.log.warn('processes survived their session', { session_id: id, survivors });
  }
}
