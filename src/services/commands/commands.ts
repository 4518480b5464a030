import type { Principal } from '../../core/access/principal.js';
import { AdapterError } from '../../core/errors.js';
import type { SignalName } from '../../core/signals.js';
import type { Answer, Request, TypedInput } from '../../core/protocol/requests.js';
import type { CommandResult } from '../../core/protocol/results.js';
import { settledWithin } from '../../core/time.js';
import type { Traces } from '../../core/traces/traces.js';
import { type Command, ENDING_SIGNALS } from '../../engine/command/command.js';
import type { Caller, EventSink } from '../registry/caller.js';
import { settled } from '../registry/command-end.js';
import { type CommandRecord, fingerprintOf, renderResult } from '../registry/command-record.js';
import type { CommandRegistry } from '../registry/command-registry.js';
import { forgotten, textOf, usedId } from '../registry/command-failures.js';
import { type CommandFactory, type CommandPlace, newCommandId, type Preparation } from './command-factory.js';
import { CommandTargets } from './command-targets.js';
import type { CommandDispatcher } from './command-dispatcher.js';
import { commandAction, inputAction } from '../confirmations/actions.js';
import type { Approval, Confirmation } from '../confirmations/confirmation.js';
import type { Confirmations } from '../confirmations/confirmations.js';
import { renderConfirmation, termsOf } from '../confirmations/wire.js';
import type { CommandGate } from '../gate/gate.js';
import type { GateQuestion } from '../gate/gate-options.js';
import { typeInto } from '../recordings/type-into.js';
import type { SessionRecord } from '../registry/session-registry.js';
import type { Sessions } from '../sessions/sessions.js';
import type { Executions } from '../users/executions.js';
import { enterableDirectory } from '../users/places.js';
import { listCommands } from './list-commands.js';
import { readOutput } from './read-output.js';
import { OutputSearch } from './output-search.js';
import type { StreamedInput, StreamedInputs } from './streamed-inputs.js';

/** Dependencies of `Commands`. */
export interface CommandsOptions {
  readonly registry: CommandRegistry;
  readonly sessions: Sessions;
  readonly executions: Executions;
  readonly inputs: StreamedInputs;
  readonly gate: CommandGate;
  readonly confirmations: Confirmations;
  readonly factory: CommandFactory;
  readonly dispatcher: CommandDispatcher;
  readonly traces: Traces;
}

/** Executes commands: the only way to execution for every transport. */
export class Commands {
  readonly #options: CommandsOptions;
  readonly #targets: CommandTargets;
  readonly #search = new OutputSearch();

  constructor(options: CommandsOptions) {
    this.#options = options;
    this.#targets = new CommandTargets(options.registry, options.sessions.registry, options.inputs);
  }

  /** Bytes of one-shot output kept in spools. */
  get spoolBytes(): number {
    return this.#options.factory.spoolBytes;
  }

  /** Runs a command, or returns the result of the command that was requested with the same id. */
  async execute(request: Request<'execute_command'>, caller: Caller): Promise<CommandResult> {
    if (request.stdin_stream !== true) return this.#execute(request, caller);
    const { command_id: id = '' } = request;
    const { inputs, registry, confirmations } = this.#options;
    const owner = this.#sessionOf(request, caller.principal)?.owner ?? caller.principal;
    const fate = () =>
      registry.find(id, owner.id) ? 'accepted' : confirmations.ofCommand(id, owner, 'use')?.answer.promise;
    return inputs.accompany(request, owner, caller.sink, { fate, run: () => this.#execute(request, caller) });
  }

  /** Whether a request is about a command that was requested before, and runs, has ended, or waits for a confirmation. */
  isKnown(request: Request<'execute_command'>, principal: Principal): boolean {
    const asked = this.#options.confirmations.ofCommand(request.command_id, principal, 'use');
    return asked !== undefined || this.#findKnown(request, principal) !== undefined;
  }

  async #execute(request: Request<'execute_command'>, caller: Caller): Promise<CommandResult> {
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
    request: Request<'execute_command'>,
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
    const { command_id: id, timeout_ms: timeoutMs } = request;
    const { confirmations, registry } = this.#options;
    const deadline = performance.now() + (timeoutMs ?? Infinity);
    const asked = confirmations.ofCommand(id, principal, 'see');
    if (asked) {
      if (timeoutMs === undefined) await asked.answer.promise;
      else await settledWithin(asked.answer.promise, timeoutMs);
      if (!registry.find(id, asked.action.owner.id)) return renderConfirmation(asked);
    }
    const record = registry.get(id, principal, 'see');
    const waitMs = deadline - performance.now();
    if (timeoutMs === undefined) await settled(record.command);
    else if (waitMs > 0) await settledWithin(settled(record.command), waitMs);
    return renderResult(record);
  }

  /** Reads bytes or lines of an output. */
  readOutput(request: Request<'read_output'>, principal: Principal): Promise<Answer<'read_output'>> {
    return readOutput(this.#options.registry.get(request.command_id, principal, 'see').command, request);
  }

  /** Searches an output line by line. */
  searchOutput(request: Request<'search_output'>, principal: Principal): Promise<Answer<'search_output'>> {
    const { command } = this.#options.registry.get(request.command_id, principal, 'see');
    return this.#search.search(command[request.stream ?? 'stdout'], request);
  }

  /** Feeds a streamed standard input, or types into the terminal of a running command. */
  sendInput(given: Request<'send_input'>, caller: Caller): Answer<'send_input'> | Promise<Answer<'send_input'>> {
    const { principal } = caller;
    const { gate, confirmations, registry } = this.#options;
    const input = this.#targets.streamedInput(given, principal);
    if (input) return this.#options.inputs.feed(input, given, caller.sink);
    const { command, session } = this.#targets.running(given, principal);
    const request = textOf(given);
    const question = gate.admitInput(session, request, principal);
    if (!question) return this.#type(session, command, request);
    const { owner } = session;
    const record = registry.get(command.id, owner, 'see');
    const asked = confirmations.ask(
      inputAction({ question, request, session, command, record, caller, owner }, this.#options),
    );
    if (!confirmations.join(asked, caller, true))
      return { accepted_bytes: 0, status: 'confirmation_required', ...termsOf(asked) };
    return asked.answer.promise.then(({ accepted_bytes = 0 }) => ({ accepted_bytes }));
  }

  /**
   * Kills the command of a streamed input that will never be complete: a plain EOF would look like the end of the data.
   */
  endUnfed({ commandId, ownerId }: StreamedInput): void {
    const record = this.#options.registry.find(commandId, ownerId);
    if (record) this.#options.dispatcher.end(record, { status: 'killed', killedBy: 'client' });
    else this.#options.inputs.close(commandId, ownerId);
  }

  /** Sends a signal to a running command. */
  async signal(request: Request<'signal_command'>, principal: Principal): Promise<Answer<'signal_command'>> {
    const reach = ENDING_SIGNALS.has(request.signal) ? 'stop' : 'use';
    const asked = this.#options.confirmations.ofCommand(request.command_id, principal, reach);
    if (asked && ENDING_SIGNALS.has(request.signal)) {
      this.#options.confirmations.withdraw(asked, principal, `it got ${request.signal}`);
      return { signalled: [] };
    }
    const queued = this.#targets.queued(request, principal, reach);
    if (queued) return this.#cancelQueued(queued, request.signal);
    const { command, session } = this.#targets.target(request, principal, reach);
    const signalled = session
      ? await session.session.signal(command, request.signal)
      : this.#options.executions.signal(command, request.signal);
    if (signalled.length > 0) return { signalled };
    throw new AdapterError(
      'NO_RUNNING_COMMAND',
      `command ${command.id} has no process that could take ${request.signal}`,
    );
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
  start(request: Request<'execute_command'>, place: CommandPlace, preparation?: Preparation): Promise<CommandResult> {
    const { caller, session } = place;
    const { factory, gate } = this.#options;
    const record = factory.accept(request, { commandClass: gate.classOf(request), ...place }, preparation);
    gate.noteStart(request, record.command);
    if (session) this.#options.dispatcher.inSession(record, session, request, caller.sink);
    else if (request.tty === true) this.#options.dispatcher.onOwnTerminal(record, request, caller);
    else this.#options.dispatcher.alone(record, request, caller.sink);
    return this.#answer(record, request);
  }

  /** Requests a confirmation, and answers as the mode requires: at once, or after the command has run. */
  async #ask(question: GateQuestion, request: Request<'execute_command'>, place: CommandPlace): Promise<CommandResult> {
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
    const action = commandAction({ ...place, question, used, request: named, directory, start }, this.#options);
    return this.#waitConfirmed(confirmations.ask(action), named, caller);
  }

  /**
   * Answers a request with a pending confirmation: with the result, or with the terms that the client has to confirm.
   */
  async #waitConfirmed(
    asked: Confirmation,
    request: Request<'execute_command'>,
    caller: Caller,
  ): Promise<CommandResult> {
    if (asked.action.fingerprint !== fingerprintOf(request)) throw usedId(asked.action.commandId);
    const isAwaited = this.#options.confirmations.join(asked, caller, request.background !== true);
    if (!isAwaited && asked.outcome === undefined) return renderConfirmation(asked);
    return asked.answer.promise;
  }

  #type(session: SessionRecord, command: Command, { data = '', eof = false }: TypedInput) {
    const accepted = typeInto(session, command, { data, eof });
    return typeof accepted === 'number'
      ? { accepted_bytes: accepted }
      : accepted.then((bytes) => ({ accepted_bytes: bytes }));
  }

  #sessionOf({ session_id: id }: { session_id?: string | undefined }, principal: Principal): SessionRecord | undefined {
    return id === undefined ? undefined : this.#options.sessions.registry.get(id, principal, 'use');
  }

  /** Returns the command requested with the same id. A command whose result was discarded is not run again. */
  #findKnown({ command_id: id }: Request<'execute_command'>, { id: owner }: Principal): CommandRecord | undefined {
    if (id === undefined) return undefined;
    const known = this.#options.registry.find(id, owner);
    if (known || !this.#options.registry.hasForgotten(id, owner)) return known;
    throw forgotten(id);
  }

  async #repeat(
    record: CommandRecord,
    request: Request<'execute_command'>,
    sink: EventSink | undefined,
  ): Promise<CommandResult> {
    if (fingerprintOf(record.request) !== fingerprintOf(request)) throw usedId(record.command.id);
    // After a reconnect, the rest of the output is sent over the new connection.
    if (request.stream === true && sink) this.#options.dispatcher.channelOf(record)?.follow(sink);
    return this.#answer(record, request);
  }

  async #answer(record: CommandRecord, request: Request<'execute_command'>): Promise<CommandResult> {
    if (request.background !== true) await settled(record.command);
    return renderResult(record);
  }

  /** A terminating signal removes the command from the queue: it has no process yet. */
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
}
