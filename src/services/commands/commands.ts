import type { Principal } from '../../core/access/principal.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import type { CommandResult } from '../../core/protocol/results.js';
import { settledWithin } from '../../core/time.js';
import type { Traces } from '../../core/traces/traces.js';
import type { Caller, EventSink } from '../registry/caller.js';
import type { Command } from '../../engine/command/command.js';
import { settled } from '../registry/command-end.js';
import { type CommandRecord, fingerprintOf, renderResult } from '../registry/command-record.js';
import { forgotten, usedId } from '../registry/command-failures.js';
import type { CommandFactory, CommandPlace, Preparation } from './command-factory.js';
import { newCommandId } from './new-command-id.js';
import { commandAction } from '../confirmations/actions.js';
import type { Approval, Confirmation } from '../confirmations/confirmation.js';
import { renderConfirmation } from '../confirmations/wire.js';
import type { CommandGate } from '../gate/gate.js';
import type { GateQuestion } from '../gate/gate-options.js';
import type { SessionRecord } from '../registry/session-registry.js';
import { enterableDirectory } from '../users/places.js';
import { listCommands } from './list-commands.js';
import { readOutput } from './read-output.js';
import { OutputSearch } from './output-search.js';
import { RunningCommands, type RunningCommandsOptions } from './running-commands.js';

/** Dependencies of `Commands`. */
export interface CommandsOptions extends RunningCommandsOptions {
  readonly gate: CommandGate;
  readonly factory: CommandFactory;
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
    const { registry, sessions, executions, inputs, gate, confirmations, dispatcher } = options;
    this.running = new RunningCommands({ registry, sessions, executions, inputs, gate, confirmations, dispatcher });
  }

  /** Bytes of one-shot output kept in spools. */
  get spoolBytes(): number {
    return this.#options.registry.spoolBytes;
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
}
