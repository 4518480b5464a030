import { canAccess, type Principal } from '../../core/principal.js';
import { AdapterError } from '../../core/errors.js';
import type { Answer, CommandRequest, Request } from '../../core/protocol/requests.js';
import type { CommandResult } from '../../core/protocol/results.js';
import { settledWithin } from '../../core/time.js';
import type { Traces } from '../../core/traces.js';
import type { Command } from '../../engine/command/command.js';
import { commandAction } from '../confirmations/actions.js';
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
  renderResult,
  usedId,
} from '../registry/command-record.js';
import type { CommandJournal, CommandRegistry } from '../registry/command-registry.js';
import type { SessionRecord, SessionRegistry } from '../registry/session-registry.js';
import { enterableDirectory, type Executions } from '../executions.js';
import { type CommandPlace, type CommandRunner, newCommandId, type Preparation } from './command-runner.js';
import { OutputSearch, readOutput } from './read-output.js';
import { RunningCommands, type StreamedInputs } from './running-commands.js';

/** Waits for a command's end and for its spool, so that the result can report whether the output was kept. */
async function settled({ finished, stdout, stderr }: Command): Promise<void> {
  await finished;
  const writing = [stdout.flush(), stderr.flush()].filter((promise) => promise !== undefined);
  if (writing.length > 0) await Promise.all(writing);
}

const DEFAULT_LIMIT = 50;

/** Lists the commands that a principal may see, the newest first. */
function listCommands(
  journal: CommandJournal,
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

/** Executes commands: the only way to execution for every transport. */
export class Commands {
  readonly #registry: CommandRegistry;
  readonly #sessions: SessionRegistry;
  readonly #executions: Executions;
  readonly #inputs: StreamedInputs;
  readonly #gate: CommandGate;
  readonly #confirmations: Confirmations;
  readonly #runner: CommandRunner;
  readonly #traces: Traces;
  /** Input and signals for commands that run. */
  readonly running: RunningCommands;
  readonly #search = new OutputSearch();

  constructor(
    registry: CommandRegistry,
    sessions: SessionRegistry,
    executions: Executions,
    inputs: StreamedInputs,
    gate: CommandGate,
    confirmations: Confirmations,
    runner: CommandRunner,
    traces: Traces,
  ) {
    this.#registry = registry;
    this.#sessions = sessions;
    this.#executions = executions;
    this.#inputs = inputs;
    this.#gate = gate;
    this.#confirmations = confirmations;
    this.#runner = runner;
    this.#traces = traces;
    this.running = new RunningCommands(registry, sessions, inputs, gate, confirmations);
  }

  /** Bytes of one-shot output kept in spools. */
  get spoolBytes(): number {
    return this.#registry.spoolBytes;
  }

  /** Runs a command, or returns the result of the command that was requested with the same id. */
  async execute(request: CommandRequest, caller: Caller): Promise<CommandResult> {
    if (request.stdin_stream !== true) return this.#execute(request, caller);
    const { command_id: id = '' } = request;
    const owner = this.#sessionOf(request, caller.principal)?.owner ?? caller.principal;
    const fate = () =>
      this.#registry.find(id, owner.id) ? 'accepted' : this.#confirmations.ofCommand(id, owner, 'use')?.answer.promise;
    return this.#inputs.accompany(request, owner, caller.sink, { fate, run: () => this.#execute(request, caller) });
  }

  /** Whether a request is about a command that was requested before, and runs, has ended, or waits for a confirmation. */
  isKnown(request: CommandRequest, principal: Principal): boolean {
    const asked = this.#confirmations.ofCommand(request.command_id, principal, 'use');
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
    const asked = this.#confirmations.ofCommand(request.command_id, owner, 'use');
    if (asked) return this.#waitConfirmed(asked, request, caller);
    const place = { caller, owner, session };
    const judged = this.#gate.admit(request, session, caller);
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
    const deadline = performance.now() + (timeoutMs ?? Infinity);
    const asked = this.#confirmations.ofCommand(id, principal, 'see', sessionId);
    if (asked) {
      if (timeoutMs === undefined) await asked.answer.promise;
      else await settledWithin(asked.answer.promise, timeoutMs);
      if (!this.#registry.find(id, asked.action.owner.id)) return renderConfirmation(asked);
    }
    const record = this.#registry.get(id, principal, 'see', sessionId);
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
    return this.#registry.get(request.command_id, principal, 'see', request.session_id).command;
  }

  /** Lists the commands that run, and those whose output is still kept. */
  list(request: Request<'list_commands'>, principal: Principal): Answer<'list_commands'> {
    return listCommands(this.#registry.journal, request, principal);
  }

  /** Returns the gate's verdict on a command without running it. */
  check(request: Request<'check_command'>, principal: Principal): Promise<Answer<'check_command'>> {
    return this.#gate.check(request, this.#sessionOf(request, principal), principal);
  }

  /** Decides on a pending confirmation; returns its result. */
  async confirm(request: Request<'confirm_command'>, caller: Caller): Promise<Answer<'confirm_command'>> {
    const asked = this.#confirmations.find(request.confirmation_id, caller.principal);
    return (await this.#confirmations.decide(request, caller)) ?? renderConfirmation(asked);
  }

  /** Runs a command that was admitted; returns its result. */
  start(request: CommandRequest, place: CommandPlace, preparation?: Preparation): Promise<CommandResult> {
    const classed = { commandClass: this.#gate.classOf(request), ...place };
    const record = this.#runner.run(request, classed, preparation, (command) => {
      this.#gate.typing.noteStart(request, command);
    });
    return this.#answer(record, request);
  }

  /** Requests a confirmation, and answers as the mode requires: at once, or after the command has run. */
  async #ask(question: GateQuestion, request: CommandRequest, place: CommandPlace): Promise<CommandResult> {
    const { caller, owner, session } = place;
    const used = await this.#gate.valuesOf(request, session, caller.principal);
    this.#sessionOf(request, caller.principal);
    // The same request may have arrived twice while the gate decided.
    const twin = this.#confirmations.ofCommand(request.command_id, owner, 'use');
    if (twin) return this.#waitConfirmed(twin, request, caller);
    const execution = this.#executions.of(owner);
    const base = session?.session.workingDirectory ?? execution.pool.cwd;
    const directory = request.cwd === undefined ? base : enterableDirectory(request.cwd, base, execution);
    const named = { ...request, command_id: request.command_id ?? newCommandId() };
    const start = this.#traces.kept((approval: Approval) => {
      this.#sessionOf(request, caller.principal);
      return this.start(named, { ...place, caller: approval.caller }, approval);
    });
    const action = commandAction({ ...place, question, used, request: named, directory, start }, this.#gate);
    return this.#waitConfirmed(this.#confirmations.ask(action), named, caller);
  }

  /**
   * Answers a request with a pending confirmation: with the result, or with the terms that the client has to confirm.
   */
  async #waitConfirmed(asked: Confirmation, request: CommandRequest, caller: Caller): Promise<CommandResult> {
    if (asked.action.fingerprint !== fingerprintOf(request)) throw usedId(asked.action.commandId);
    const isAwaited = this.#confirmations.join(asked, caller, request.background !== true);
    if (!isAwaited && asked.outcome === undefined) return renderConfirmation(asked);
    return asked.answer.promise;
  }

  #sessionOf({ session_id: id }: { session_id?: string | undefined }, principal: Principal): SessionRecord | undefined {
    return id === undefined ? undefined : this.#sessions.get(id, principal, 'use');
  }

  /** Returns the command requested with the same id. A command whose result was discarded is not run again. */
  #findKnown({ command_id: id }: CommandRequest, { id: owner }: Principal): CommandRecord | undefined {
    if (id === undefined) return undefined;
    const known = this.#registry.find(id, owner);
    if (known || !this.#registry.hasForgotten(id, owner)) return known;
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
