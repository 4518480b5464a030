import { type AccessKind, canAccess, type Principal } from '../../core/principal.js';
import { AdapterError } from '../../core/errors.js';
import type { Answer, CommandRequest, Request } from '../../core/protocol/requests.js';
import { ENDING_SIGNALS } from '../../engine/command/command.js';
import type { StdinPipe } from '../../engine/output/stdin-pipe.js';
import { inputAction, type StoppedInput } from '../confirmations/actions.js';
import type { Confirmations } from '../confirmations/confirmations.js';
import type { Executions } from '../executions.js';
import type { CommandGate } from '../gate/gate.js';
import type { Caller, EventSink } from '../registry/caller.js';
import { type CommandRecord, noTerminal, textOf } from '../registry/command-record.js';
import type { CommandRegistry } from '../registry/command-registry.js';
import type { SessionRegistry } from '../registry/session-registry.js';
import { typeInto } from '../session-recorder.js';

/**
 * Upper bound of the grace period for a client that disconnects without ending its input, in milliseconds: clients try
 * to reconnect for that long.
 */
const MAX_GRACE_MS = 30_000;

/** A standard input that a client streams. */
interface StreamedInput {
  readonly commandId: string;
  /** Id of the principal that owns the command. */
  readonly ownerId: string;
  /** The session of the command; undefined without one. */
  readonly sessionId: string | undefined;
  readonly pipe: StdinPipe;
  /** The connection that feeds the input; undefined after a disconnect, and for callers without a connection. */
  sink: EventSink | undefined;
  timer: NodeJS.Timeout | undefined;
}

/**
 * Standard inputs that clients stream, from the command's request until its end. Chunks that arrive before the command
 * has started, during policy checks, confirmation or queueing, are buffered here.
 */
export class StreamedInputs {
  readonly #registry: CommandRegistry;
  readonly #executions: Executions;
  /** Grace period for a disconnected client to reconnect, in milliseconds; bounded by 30 s. */
  readonly #graceMs: () => number;
  readonly #inputs = new Map<string, StreamedInput>();

  constructor(registry: CommandRegistry, executions: Executions, graceMs: () => number) {
    this.#registry = registry;
    this.#executions = executions;
    this.#graceMs = graceMs;
  }

  /**
   * Runs a command with a streamed input. The input is open at once: its first chunk may be the client's next request.
   * If the command is not run in the end, its input is closed.
   * @param fate state of the command: the promise of a pending confirmation, `accepted`, or undefined when it is
   *   unknown
   * @throws AdapterError INVALID_REQUEST when the request also has `stdin`, or no `command_id`
   */
  async accompany<T>(
    { command_id: commandId, session_id: sessionId, stdin }: CommandRequest,
    owner: Principal,
    sink: EventSink | undefined,
    { fate, run }: { readonly fate: () => 'accepted' | Promise<unknown> | undefined; readonly run: () => Promise<T> },
  ): Promise<T> {
    const { id: ownerId } = owner;
    if (commandId === undefined) throw invalid('stdin_stream needs a command_id, by which send_input feeds it');
    if (stdin !== undefined) throw invalid('give stdin or stdin_stream, not both');
    if (this.find(commandId, ownerId)) this.adopt(commandId, ownerId, sink);
    else if (fate() === undefined) this.#open(commandId, sessionId, owner, sink);
    if (sink?.isGone === true) this.detach(sink);
    const settle = () => {
      const known = fate();
      if (known instanceof Promise) void known.then(settle, settle);
      else if (known === undefined) this.close(commandId, ownerId);
    };
    try {
      return await run();
    } finally {
      settle();
    }
  }

  #open(commandId: string, sessionId: string | undefined, owner: Principal, sink: EventSink | undefined): void {
    const { id: ownerId } = owner;
    const pipe = this.#executions.of(owner).stdinPipes.next();
    this.#inputs.set(keyOf(commandId, ownerId), { commandId, ownerId, sessionId, pipe, sink, timer: undefined });
  }

  /** True when no input is open. */
  get isEmpty(): boolean {
    return this.#inputs.size === 0;
  }

  /**
   * Returns the open input of a command.
   * @param sessionId the session of the command; without one, it may be of any session, or of none
   */
  find(commandId: string, ownerId: string, sessionId?: string): StreamedInput | undefined {
    const input = this.#inputs.get(keyOf(commandId, ownerId));
    return sessionId === undefined || input?.sessionId === sessionId ? input : undefined;
  }

  /** Sets the connection that feeds an input from now on. */
  adopt(commandId: string, ownerId: string, sink: EventSink | undefined): void {
    const input = this.find(commandId, ownerId);
    if (!input) return;
    clearTimeout(input.timer);
    input.timer = undefined;
    input.sink = sink;
  }

  /** Closes an input when its command has ended, or does not run. */
  close(commandId: string, ownerId: string): void {
    const input = this.find(commandId, ownerId);
    if (!input) return;
    clearTimeout(input.timer);
    input.pipe.close();
    this.#inputs.delete(keyOf(commandId, ownerId));
  }

  /** Handles the end of a connection: the inputs it feeds wait for a reconnect. A complete input does not wait. */
  detach(sink: EventSink): void {
    const grace = Math.min(this.#graceMs(), MAX_GRACE_MS);
    for (const input of this.#inputs.values()) {
      if (input.sink !== sink || input.pipe.hasEnded) continue;
      input.sink = undefined;
      input.timer = setTimeout(() => {
        this.#endUnfed(input);
      }, grace).unref();
    }
  }

  /**
   * Accepts a chunk; resolves when there is room for another one (backpressure).
   * @throws AdapterError INVALID_REQUEST for a chunk that leaves a gap, or arrives after the end; INPUT_FULL for a
   *   client that does not wait for the answers
   */
  async feed(
    input: StreamedInput,
    { data = '', offset = input.pipe.bytes, eof = false }: Request<'send_input'>,
    sink: EventSink | undefined,
  ): Promise<Answer<'send_input'>> {
    const { pipe } = input;
    this.adopt(input.commandId, input.ownerId, sink);
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    const fresh = bytes.subarray(freshFrom(input, offset));
    if (fresh.length > 0) assertTakes(pipe);
    if (pipe.isClosed) return { accepted_bytes: 0, stdin_bytes: pipe.bytes, stdin_closed: true };
    pipe.write(fresh);
    if (eof) pipe.end();
    const room = await pipe.whenRoom();
    return {
      accepted_bytes: bytes.length,
      stdin_bytes: pipe.bytes,
      ...(room === 'closed' && { stdin_closed: true }),
    };
  }

  /** Kills a command whose input will never be complete: a plain EOF would look like the end of the data. */
  #endUnfed({ commandId, ownerId }: StreamedInput): void {
    const record = this.#registry.find(commandId, ownerId);
    if (record) record.host?.end({ status: 'killed', killedBy: 'client' });
    else this.close(commandId, ownerId);
  }
}

const keyOf = (commandId: string, ownerId: string): string => `${ownerId} ${commandId}`;

const invalid = (message: string): AdapterError => new AdapterError('INVALID_REQUEST', message);

/** Throws unless a pipe takes more bytes. */
function assertTakes(pipe: StdinPipe): void {
  if (pipe.hasEnded) throw invalid('the standard input was ended by an earlier `eof`');
  if (!pipe.isFull) return;
  const message = 'the command does not read its input: wait for the answers to what was sent';
  throw new AdapterError('INPUT_FULL', message, { details: { stdin_bytes: pipe.bytes } });
}

/** Number of bytes of a chunk that were accepted already, when it was sent before over a connection that broke. */
function freshFrom({ pipe: { bytes } }: StreamedInput, offset: number): number {
  if (offset <= bytes) return bytes - offset;
  throw new AdapterError('INVALID_REQUEST', `offset ${offset} leaves a gap: the next byte of this input is ${bytes}`, {
    details: { field: 'offset', stdin_bytes: bytes },
  });
}

/** What a request refers to: a command, if given of this session; or the command that runs in a session. */
interface Target {
  readonly session_id?: string | undefined;
  readonly command_id?: string | undefined;
}

/** Feeds, types into, and signals commands that run, or wait for their turn. */
export class RunningCommands {
  readonly #registry: CommandRegistry;
  readonly #sessions: SessionRegistry;
  readonly #inputs: StreamedInputs;
  readonly #gate: CommandGate;
  readonly #confirmations: Confirmations;

  constructor(
    registry: CommandRegistry,
    sessions: SessionRegistry,
    inputs: StreamedInputs,
    gate: CommandGate,
    confirmations: Confirmations,
  ) {
    this.#registry = registry;
    this.#sessions = sessions;
    this.#inputs = inputs;
    this.#gate = gate;
    this.#confirmations = confirmations;
  }

  /** Feeds a streamed standard input, or types into the terminal of a running command. */
  sendInput(given: Request<'send_input'>, caller: Caller): Answer<'send_input'> | Promise<Answer<'send_input'>> {
    const { principal } = caller;
    const input = this.#streamedInput(given, principal);
    if (input) return this.#inputs.feed(input, given, caller.sink);
    const record = this.#find(given, principal, 'use');
    const { command, host } = record;
    if (!command.hasStarted) throw notRunning(record, 'has not started');
    if (!host?.session) throw noTerminal();
    const { session } = host;
    const request = textOf(given);
    const question = this.#gate.typing.admit(session, request, principal);
    if (question) return this.#ask({ question, request, session, command, record, caller, owner: session.owner });
    const { data = '', eof = false } = request;
    const accepted = typeInto(session, command, { data, eof });
    return typeof accepted === 'number'
      ? { accepted_bytes: accepted }
      : accepted.then((bytes) => ({ accepted_bytes: bytes }));
  }

  /** Sends a signal to a running command. One that waits for its turn has no process, and leaves the queue. */
  async signal(request: Request<'signal_command'>, principal: Principal): Promise<Answer<'signal_command'>> {
    const { signal, command_id: id, session_id: sessionId } = request;
    const isEnding = ENDING_SIGNALS.has(signal);
    const reach = isEnding ? 'stop' : 'use';
    const asked = this.#confirmations.ofCommand(id, principal, reach, sessionId);
    if (asked && isEnding) {
      this.#confirmations.withdraw(asked, principal, `it got ${signal}`);
      return { signalled: [] };
    }
    const record = this.#find(request, principal, reach);
    const { command, host } = record;
    if (!command.hasStarted) {
      cancelQueued(record, isEnding);
      return { signalled: [] };
    }
    const signalled = (await host?.signal(signal)) ?? [];
    // A command that had no process yet was cancelled.
    if (signalled.length > 0 || command.endReason?.killedBy === 'signal') return { signalled };
    throw new AdapterError('NO_RUNNING_COMMAND', `command ${command.id} has no process that could take ${signal}`);
  }

  async #ask(stopped: StoppedInput): Promise<Answer<'send_input'>> {
    const asked = await this.#confirmations.stop(inputAction(stopped, this.#gate.typing));
    return 'pending' in asked
      ? { accepted_bytes: 0, ...asked.pending }
      : { accepted_bytes: asked.answer.accepted_bytes ?? 0 };
  }

  /**
   * Returns the command that a request refers to, or that runs in a session.
   * @throws AdapterError NO_RUNNING_COMMAND when it has ended, and when the session is idle
   */
  #find({ command_id: id, session_id: sessionId }: Target, principal: Principal, reach: AccessKind): CommandRecord {
    if (id === undefined) {
      const { id: idle, session, owner } = this.#sessions.get(sessionId ?? '', principal, reach);
      const running = session.running && this.#registry.find(session.running.id, owner.id);
      if (running) return running;
      throw new AdapterError('NO_RUNNING_COMMAND', `nothing runs in session ${idle}`, {
        details: { session_id: idle },
      });
    }
    const record = this.#registry.get(id, principal, reach, sessionId);
    if (record.command.outcome) throw notRunning(record, 'has ended');
    if (record.sessionId !== null) this.#sessions.get(record.sessionId, principal, reach);
    return record;
  }

  /** Returns the streamed input of the command that a request refers to, if it is still open. */
  #streamedInput({ command_id: id, session_id: sessionId }: Target, principal: Principal): StreamedInput | undefined {
    if (id === undefined) {
      const running = this.#sessions.get(sessionId ?? '', principal, 'use').session.running;
      return running && this.#streamedInput({ command_id: running.id }, principal);
    }
    const own = this.#inputs.find(id, principal.id, sessionId);
    if (own || this.#inputs.isEmpty) return own;
    if (sessionId === undefined) return this.#inputs.find(id, this.#registry.get(id, principal, 'use').owner.id);
    // In another principal's session, the input belongs to the session's owner. The command may not have been accepted
    // yet.
    const owner = this.#sessions.find(sessionId)?.owner.id;
    return owner !== undefined && canAccess(principal, owner, 'use')
      ? this.#inputs.find(id, owner, sessionId)
      : undefined;
  }
}

/** @throws AdapterError NO_RUNNING_COMMAND for a signal that does not end commands, and for one that is in no queue */
function cancelQueued(record: CommandRecord, isEnding: boolean): void {
  if (record.sessionId === null) throw notRunning(record, 'has not started');
  if (!isEnding) throw notRunning(record, 'waits for its turn');
  record.host?.end({ status: 'interrupted', killedBy: 'signal' });
}

const notRunning = ({ command: { id } }: CommandRecord, state: string): AdapterError =>
  new AdapterError('NO_RUNNING_COMMAND', `command ${id} ${state}`, { details: { command_id: id } });
