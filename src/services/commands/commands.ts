import { type AccessKind, canAccess, type Principal } from '../../core/principal.js';
import { AdapterError } from '../../core/errors.js';
import type { Answer, CommandRequest, Request } from '../../core/protocol/requests.js';
import type { CommandResult } from '../../core/protocol/results.js';
import { settledWithin } from '../../core/time.js';
import type { Traces } from '../../core/traces.js';
import { type Command, ENDING_SIGNALS } from '../../engine/command/command.js';
import { commandAction, inputAction, type StoppedInput } from '../confirmations/actions.js';
import type { Approval, Confirmation } from '../confirmations/confirmation.js';
import type { Confirmations } from '../confirmations/confirmations.js';
import { renderConfirmation } from '../confirmations/wire.js';
import type { GateQuestion } from '../gate/gate-options.js';
import type { CommandGate } from '../gate/gate.js';
import type { Caller, EventSink } from '../registry/caller.js';
import {
  type CommandRecord,
  describeCommand,
  fingerprintOf,
  forgotten,
  noTerminal,
  renderResult,
  textOf,
  usedId,
} from '../registry/command-record.js';
import type { CommandJournal, CommandRegistry } from '../registry/command-registry.js';
import type { SessionRecord } from '../registry/session-registry.js';
import { typeInto } from '../session-recorder.js';
import type { Sessions } from '../sessions/sessions.js';
import { enterableDirectory, type Executions } from '../executions.js';
import type { CommandDispatcher } from './command-dispatcher.js';
import { type CommandFactory, type CommandPlace, newCommandId, type Preparation } from './command-factory.js';
import { OutputSearch, readOutput } from './read-output.js';
import type { StreamedInput, StreamedInputs } from './streamed-inputs.js';

/** Waits for a command's end and for its spool, so that the result can report whether the output was kept. */
async function settled({ finished, stdout, stderr }: Command): Promise<void> {
  await finished;
  const writing = [stdout.flush(), stderr.flush()].filter((promise) => promise !== undefined);
  if (writing.length > 0) await Promise.all(writing);
}

const DEFAULT_LIMIT = 50;

/** Lists the commands that a principal may see, the newest first. */
function listCommands(
  journal: Pick<CommandJournal, 'newestFirst' | 'node'>,
  request: Request<'list_commands'>,
  principal: Principal,
): Answer<'list_commands'> {
  const { limit = DEFAULT_LIMIT, before } = request;
  const end = before === undefined ? Infinity : Number(before);
  if (Number.isNaN(end)) throw foreignCursor();
  const found = journal
    .newestFirst()
    .filter(([record, number]) => number < end && isWanted(record, request) && isSeen(record, principal));
  const page = found.slice(0, limit);
  return {
    commands: page.map(([record, number]) => ({ ...describeCommand(record, journal.node), number })),
    next: found.length > limit ? String(page.at(-1)?.[1]) : null,
  };
}

const foreignCursor = (): AdapterError =>
  new AdapterError('INVALID_REQUEST', 'before is of the list of a cluster, and this daemon is none', {
    details: { field: 'before' },
  });

const isSeen = ({ owner }: CommandRecord, principal: Principal): boolean => canAccess(principal, owner.id, 'see');

function isWanted(
  { command, owner, sessionId }: CommandRecord,
  { session_id: session, owner: ownerName, state }: Request<'list_commands'>,
): boolean {
  if (session !== undefined && session !== sessionId) return false;
  if (ownerName !== undefined && ownerName !== owner.name) return false;
  return state === undefined || (state === 'ended') === (command.outcome !== undefined);
}

/** What a request refers to: a command, if given of this session; or the command that runs in a session. */
interface Target {
  readonly session_id?: string | undefined;
  readonly command_id?: string | undefined;
}

interface RunningCommandsOptions {
  readonly registry: CommandRegistry;
  readonly sessions: Sessions;
  readonly inputs: StreamedInputs;
  readonly gate: CommandGate;
  readonly confirmations: Confirmations;
}

/** Feeds, types into, and signals commands that run, or wait for their turn. */
class RunningCommands {
  readonly #options: RunningCommandsOptions;

  constructor(options: RunningCommandsOptions) {
    this.#options = options;
  }

  /** Feeds a streamed standard input, or types into the terminal of a running command. */
  sendInput(given: Request<'send_input'>, caller: Caller): Answer<'send_input'> | Promise<Answer<'send_input'>> {
    const { principal } = caller;
    const input = this.#streamedInput(given, principal);
    if (input) return this.#options.inputs.feed(input, given, caller.sink);
    const record = this.#find(given, principal, 'use');
    const { command, host } = record;
    if (!command.hasStarted) throw notRunning(record, 'has not started');
    if (!host?.session) throw noTerminal();
    const { session } = host;
    const request = textOf(given);
    const question = this.#options.gate.typing.admit(session, request, principal);
    if (question) return this.#ask({ question, request, session, command, record, caller, owner: session.owner });
    const { data = '', eof = false } = request;
    const accepted = typeInto(session, command, { data, eof });
    return typeof accepted === 'number'
      ? { accepted_bytes: accepted }
      : accepted.then((bytes) => ({ accepted_bytes: bytes }));
  }

  /**
   * Kills the command of a streamed input that will never be complete: a plain EOF would look like the end of the data.
   */
  endUnfed({ commandId, ownerId }: StreamedInput): void {
    const record = this.#options.registry.find(commandId, ownerId);
    if (record) record.host?.end({ status: 'killed', killedBy: 'client' });
    else this.#options.inputs.close(commandId, ownerId);
  }

  /** Sends a signal to a running command. One that waits for its turn has no process, and leaves the queue. */
  async signal(request: Request<'signal_command'>, principal: Principal): Promise<Answer<'signal_command'>> {
    const { signal, command_id: id, session_id: sessionId } = request;
    const isEnding = ENDING_SIGNALS.has(signal);
    const reach = isEnding ? 'stop' : 'use';
    const asked = this.#options.confirmations.ofCommand(id, principal, reach, sessionId);
    if (asked && isEnding) {
      this.#options.confirmations.withdraw(asked, principal, `it got ${signal}`);
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
    const { gate, confirmations } = this.#options;
    const asked = await confirmations.stop(inputAction(stopped, gate.typing));
    return 'pending' in asked
      ? { accepted_bytes: 0, ...asked.pending }
      : { accepted_bytes: asked.answer.accepted_bytes ?? 0 };
  }

  /**
   * Returns the command that a request refers to, or that runs in a session.
   * @throws AdapterError NO_RUNNING_COMMAND when it has ended, and when the session is idle
   */
  #find({ command_id: id, session_id: sessionId }: Target, principal: Principal, reach: AccessKind): CommandRecord {
    const { registry, sessions } = this.#options;
    if (id === undefined) {
      const { id: idle, session, owner } = sessions.registry.get(sessionId ?? '', principal, reach);
      const running = session.running && registry.find(session.running.id, owner.id);
      if (running) return running;
      throw new AdapterError('NO_RUNNING_COMMAND', `nothing runs in session ${idle}`, {
        details: { session_id: idle },
      });
    }
    const record = registry.get(id, principal, reach, sessionId);
    if (record.command.outcome) throw notRunning(record, 'has ended');
    if (record.sessionId !== null) sessions.registry.get(record.sessionId, principal, reach);
    return record;
  }

  /** Returns the streamed input of the command that a request refers to, if it is still open. */
  #streamedInput({ command_id: id, session_id: sessionId }: Target, principal: Principal): StreamedInput | undefined {
    const { registry, inputs } = this.#options;
    const sessions = this.#options.sessions.registry;
    if (id === undefined) {
      const running = sessions.get(sessionId ?? '', principal, 'use').session.running;
      return running && this.#streamedInput({ command_id: running.id }, principal);
    }
    const own = inputs.find(id, principal.id, sessionId);
    if (own || inputs.isEmpty) return own;
    if (sessionId === undefined) return inputs.find(id, registry.get(id, principal, 'use').owner.id);
    // In another principal's session, the input belongs to the session's owner. The command may not have been accepted
    // yet.
    const owner = sessions.find(sessionId)?.owner.id;
    return owner !== undefined && canAccess(principal, owner, 'use') ? inputs.find(id, owner, sessionId) : undefined;
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

interface CommandsOptions extends RunningCommandsOptions {
  readonly executions: Executions;
  readonly factory: CommandFactory;
  readonly dispatcher: CommandDispatcher;
  readonly traces: Traces;
}

/** Executes commands: the only way to execution for every transport. */
export class Commands {
  readonly #options: CommandsOptions;
  /** Input and signals for commands that run. */
  readonly running: RunningCommands;
  readonly #search = new OutputSearch();

  constructor(options: CommandsOptions) {
    this.#options = options;
    this.running = new RunningCommands(options);
  }

  /** Bytes of one-shot output kept in spools. */
  get spoolBytes(): number {
    return this.#options.registry.spoolBytes;
  }

  /** Runs a command, or returns the result of the command that was requested with the same id. */
  async execute(request: CommandRequest, caller: Caller): Promise<CommandResult> {
    if (request.stdin_stream !== true) return this.#execute(request, caller);
    const { command_id: id = '' } = request;
    const { inputs, registry, confirmations } = this.#options;
    const owner = this.#sessionOf(request, caller.principal)?.owner ?? caller.principal;
    const fate = () =>
      registry.find(id, owner.id) ? 'accepted' : confirmations.ofCommand(id, owner, 'use')?.answer.promise;
    return inputs.accompany(request, owner, caller.sink, { fate, run: () => this.#execute(request, caller) });
  }

  /** Whether a request is about a command that was requested before, and runs, has ended, or waits for a confirmation. */
  isKnown(request: CommandRequest, principal: Principal): boolean {
    const asked = this.#options.confirmations.ofCommand(request.command_id, principal, 'use');
    return asked !== undefined || this.#findKnown(request, principal) !== undefined;
  }

  async #execute(request: CommandRequest, caller: Caller): Promise<CommandResult> {
    const { principal, sink } = caller;
    const known = this.#findKnown(request, principal);
    if (known) return this.#repeat(known, request, sink);
    const session = this.#sessionOf(request, principal);
    // A session's commands belong to its owner, also when another principal requests them.
    const owner = session?.owner ?? principal;
    const others = owner === principal ? undefined : this.#findKnown(request, owner);
    if (others) return this.#repeat(others, request, sink);
    const asked = this.#options.confirmations.ofCommand(request.command_id, owner, 'use');
    if (asked) return this.#waitConfirmed(asked, request, caller);
    const place = { caller, owner, session };
    const judged = this.#options.gate.admit(request, session, caller);
    return judged ? this.#onceJudged(await judged, request, place) : this.start(request, place);
  }

  /** Goes on after the gate has taken its time: the session may have ended, and the same request may have been accepted. */
  #onceJudged(
    question: GateQuestion | undefined,
    request: CommandRequest,
    place: CommandPlace,
  ): Promise<CommandResult> {
    const { caller, owner } = place;
    this.#sessionOf(request, caller.principal);
    const twin = this.#findKnown(request, owner);
    if (twin) return this.#repeat(twin, request, caller.sink);
    if (question?.refused) return this.start(request, { ...place, refused: question.refused });
    return question && !question.saved
      ? this.#ask(question, request, place)
      : this.start(request, place, question?.saved);
  }

  /** Waits for a command; returns its result, or the partial result after the timeout. */
  async wait(request: Request<'wait_command'>, principal: Principal): Promise<CommandResult> {
    const { command_id: id, session_id: sessionId, timeout_ms: timeoutMs } = request;
    const { confirmations, registry } = this.#options;
    const deadline = performance.now() + (timeoutMs ?? Infinity);
    const asked = confirmations.ofCommand(id, principal, 'see', sessionId);
    if (asked) {
      if (timeoutMs === undefined) await asked.answer.promise;
      else await settledWithin(asked.answer.promise, timeoutMs);
      if (!registry.find(id, asked.action.owner.id)) return renderConfirmation(asked);
    }
    const record = registry.get(id, principal, 'see', sessionId);
    const waitMs = deadline - performance.now();
    if (timeoutMs === undefined) await settled(record.command);
    else if (waitMs > 0) await settledWithin(settled(record.command), waitMs);
    return renderResult(record);
  }

  /** Reads bytes or lines of an output. */
  readOutput(request: Request<'read_output'>, principal: Principal): Promise<Answer<'read_output'>> {
    return readOutput(this.#commandOf(request, principal), request);
  }

  /** Searches an output line by line. */
  searchOutput(request: Request<'search_output'>, principal: Principal): Promise<Answer<'search_output'>> {
    const command = this.#commandOf(request, principal);
    return this.#search.search(command[request.stream ?? 'stdout'], request);
  }

  #commandOf(request: Pick<Request<'read_output'>, 'command_id' | 'session_id'>, principal: Principal): Command {
    return this.#options.registry.get(request.command_id, principal, 'see', request.session_id).command;
  }

  /** Lists the commands that run, and those whose output is still kept. */
  list(request: Request<'list_commands'>, principal: Principal): Answer<'list_commands'> {
    return listCommands(this.#options.registry.journal, request, principal);
  }

  /** Returns the gate's verdict on a command without running it. */
  check(request: Request<'check_command'>, principal: Principal): Promise<Answer<'check_command'>> {
    return this.#options.gate.check(request, this.#sessionOf(request, principal), principal);
  }

  /** Decides on a pending confirmation; returns its result. */
  async confirm(request: Request<'confirm_command'>, caller: Caller): Promise<Answer<'confirm_command'>> {
    const { confirmations } = this.#options;
    const asked = confirmations.find(request.confirmation_id, caller.principal);
    return (await confirmations.decide(request, caller)) ?? renderConfirmation(asked);
  }

  // --- accepting --------------------------------------------------------------------------------------------------

  /** Starts a command that was admitted; returns its result. */
  start(request: CommandRequest, place: CommandPlace, preparation?: Preparation): Promise<CommandResult> {
    const { caller, session } = place;
    const { factory, gate } = this.#options;
    const record = factory.accept(request, { commandClass: gate.classOf(request), ...place }, preparation);
    gate.typing.noteStart(request, record.command);
    if (session) this.#options.dispatcher.inSession(record, session, request, caller.sink);
    else if (request.tty === true) this.#options.dispatcher.onOwnTerminal(record, request, caller);
    else this.#options.dispatcher.alone(record, request, caller.sink);
    return this.#answer(record, request);
  }

  /** Requests a confirmation, and answers as the mode requires: at once, or after the command has run. */
  async #ask(question: GateQuestion, request: CommandRequest, place: CommandPlace): Promise<CommandResult> {
    const { confirmations, executions, gate, traces } = this.#options;
    const { caller, owner, session } = place;
    const used = await gate.valuesOf(request, session, caller.principal);
    this.#sessionOf(request, caller.principal);
    // The same request may have arrived twice while the gate decided.
    const twin = confirmations.ofCommand(request.command_id, owner, 'use');
    if (twin) return this.#waitConfirmed(twin, request, caller);
    const execution = executions.of(owner);
    const base = session?.session.workingDirectory ?? execution.pool.cwd;
    const directory = request.cwd === undefined ? base : enterableDirectory(request.cwd, base, execution);
    const named = { ...request, command_id: request.command_id ?? newCommandId() };
    const start = traces.kept((approval: Approval) => {
      this.#sessionOf(request, caller.principal);
      return this.start(named, { ...place, caller: approval.caller }, approval);
    });
    const action = commandAction({ ...place, question, used, request: named, directory, start }, gate);
    return this.#waitConfirmed(confirmations.ask(action), named, caller);
  }

  /**
   * Answers a request with a pending confirmation: with the result, or with the terms that the client has to confirm.
   */
  async #waitConfirmed(asked: Confirmation, request: CommandRequest, caller: Caller): Promise<CommandResult> {
    if (asked.action.fingerprint !== fingerprintOf(request)) throw usedId(asked.action.commandId);
    const isAwaited = this.#options.confirmations.join(asked, caller, request.background !== true);
    if (!isAwaited && asked.outcome === undefined) return renderConfirmation(asked);
    return asked.answer.promise;
  }

  #sessionOf({ session_id: id }: { session_id?: string | undefined }, principal: Principal): SessionRecord | undefined {
    return id === undefined ? undefined : this.#options.sessions.registry.get(id, principal, 'use');
  }

  /** Returns the command requested with the same id. A command whose result was discarded is not run again. */
  #findKnown({ command_id: id }: CommandRequest, { id: owner }: Principal): CommandRecord | undefined {
    if (id === undefined) return undefined;
    const known = this.#options.registry.find(id, owner);
    if (known || !this.#options.registry.hasForgotten(id, owner)) return known;
    throw forgotten(id);
  }

  async #repeat(record: CommandRecord, request: CommandRequest, sink: EventSink | undefined): Promise<CommandResult> {
    if (fingerprintOf(record.request) !== fingerprintOf(request)) throw usedId(record.command.id);
    // After a reconnect, the rest of the output is sent over the new connection.
    if (request.stream === true && sink) record.host?.channel?.follow(sink);
    return this.#answer(record, request);
  }

  async #answer(record: CommandRecord, request: CommandRequest): Promise<CommandResult> {
    if (request.background !== true) await settled(record.command);
    return renderResult(record);
  }
}
