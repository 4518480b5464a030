import type { Principal } from '../../core/access/principal.js';
import { AdapterError } from '../../core/errors.js';
import type { Answer, Request, TypedInput } from '../../core/protocol/requests.js';
import type { SignalName } from '../../core/signals.js';
import { type Command, ENDING_SIGNALS } from '../../engine/command/command.js';
import { inputAction } from '../confirmations/actions.js';
import { termsOf } from '../confirmations/wire.js';
import { typeInto } from '../recordings/type-into.js';
import type { Caller } from '../registry/caller.js';
import { textOf } from '../registry/command-failures.js';
import type { SessionRecord } from '../registry/session-registry.js';
import type { Confirmations } from '../confirmations/confirmations.js';
import type { CommandGate } from '../gate/gate.js';
import type { CommandRegistry } from '../registry/command-registry.js';
import type { Sessions } from '../sessions/sessions.js';
import type { Executions } from '../users/executions.js';
import type { CommandDispatcher } from './command-dispatcher.js';
import { CommandTargets } from './command-targets.js';
import type { StreamedInput, StreamedInputs } from './streamed-inputs.js';

/** Dependencies of `RunningCommands`. */
export interface RunningCommandsOptions {
  readonly registry: CommandRegistry;
  readonly sessions: Sessions;
  readonly executions: Executions;
  readonly inputs: StreamedInputs;
  readonly gate: CommandGate;
  readonly confirmations: Confirmations;
  readonly dispatcher: CommandDispatcher;
}

/** Feeds, types into, and signals commands that run, or wait for their turn. */
export class RunningCommands {
  readonly #options: RunningCommandsOptions;
  readonly #targets: CommandTargets;

  constructor(options: RunningCommandsOptions) {
    this.#options = options;
    this.#targets = new CommandTargets(options.registry, options.sessions.registry, options.inputs);
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
    const { command_id: id, session_id: sessionId } = request;
    const asked = this.#options.confirmations.ofCommand(id, principal, reach, sessionId);
    if (asked && ENDING_SIGNALS.has(request.signal)) {
      this.#options.confirmations.withdraw(asked, principal, `it got ${request.signal}`);
      return { signalled: [] };
    }
    const queued = this.#targets.queued(request, principal, reach);
    if (queued) return this.#cancelQueued(queued, request.signal);
    const { command, session } = this.#targets.target(request, principal, reach);
    const signalled = session
      ? await session.session.signal(command, request.signal)
      : await this.#options.executions.signal(command, request.signal);
    // A command that had no process yet was cancelled.
    if (signalled.length > 0 || command.endReason?.killedBy === 'signal') return { signalled };
    throw new AdapterError(
      'NO_RUNNING_COMMAND',
      `command ${command.id} has no process that could take ${request.signal}`,
    );
  }

  #type(session: SessionRecord, command: Command, { data = '', eof = false }: TypedInput) {
    const accepted = typeInto(session, command, { data, eof });
    return typeof accepted === 'number'
      ? { accepted_bytes: accepted }
      : accepted.then((bytes) => ({ accepted_bytes: bytes }));
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
