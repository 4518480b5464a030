import { type AccessKind, canAccess, type Principal } from '../../core/access/principal.js';
import { AdapterError } from '../../core/errors.js';
import type { Command } from '../../engine/command/command.js';
import { noTerminal } from '../registry/command-failures.js';
import type { CommandRegistry } from '../registry/command-registry.js';
import type { SessionRecord, SessionRegistry } from '../registry/session-registry.js';
import type { StreamedInput, StreamedInputs } from './streamed-inputs.js';

/** What a request refers to: a command, if given of this session; or the command that runs in a session. */
interface Target {
  readonly session_id?: string | undefined;
  readonly command_id?: string | undefined;
}

/** Finds the commands that requests refer to. */
export class CommandTargets {
  readonly #commands: CommandRegistry;
  readonly #sessions: SessionRegistry;
  readonly #inputs: StreamedInputs;

  constructor(commands: CommandRegistry, sessions: SessionRegistry, inputs: StreamedInputs) {
    this.#commands = commands;
    this.#sessions = sessions;
    this.#inputs = inputs;
  }

  /**
   * Returns the running command that a request refers to, and its session: undefined for a one-shot without a terminal.
   * @throws AdapterError NO_RUNNING_COMMAND when it has ended or not started
   */
  target(
    request: Target,
    principal: Principal,
    reach: AccessKind = 'use',
  ): {
    command: Command;
    session: SessionRecord | undefined;
  } {
    if (request.command_id === undefined) return this.running(request, principal, reach);
    const { command, sessionId } = this.#commands.get(request.command_id, principal, reach, request.session_id);
    if (command.outcome || !command.hasStarted) {
      const state = command.outcome ? 'has ended' : 'has not started';
      throw new AdapterError('NO_RUNNING_COMMAND', `command ${command.id} ${state}`, {
        details: { command_id: command.id },
      });
    }
    return {
      command,
      session: sessionId === null ? this.#ofTerminal(command) : this.#sessions.get(sessionId, principal, reach),
    };
  }

  /** The session that was opened for a one-shot with a terminal; undefined for one without. */
  #ofTerminal(command: Command): SessionRecord | undefined {
    return this.#sessions.all().find(({ isHidden, session }) => isHidden && session.running === command);
  }

  /** Returns the streamed input of the command that a request refers to, if it is still open. */
  streamedInput({ command_id: id, session_id: sessionId }: Target, principal: Principal): StreamedInput | undefined {
    if (id === undefined) {
      const running = this.#sessions.get(sessionId ?? '', principal, 'use').session.running;
      return running && this.streamedInput({ command_id: running.id }, principal);
    }
    const own = this.#inputs.find(id, principal.id, sessionId);
    if (own || this.#inputs.isEmpty) return own;
    if (sessionId === undefined) return this.#inputs.find(id, this.#commands.get(id, principal, 'use').owner.id);
    // In another principal's session, the input belongs to the session's owner. The command may not have been accepted
    // yet.
    const owner = this.#sessions.find(sessionId)?.owner.id;
    return owner !== undefined && canAccess(principal, owner, 'use')
      ? this.#inputs.find(id, owner, sessionId)
      : undefined;
  }

  /** Returns a command that is still in its session's queue. */
  queued(
    { command_id, session_id }: Target,
    principal: Principal,
    reach: AccessKind,
  ): { command: Command; session: SessionRecord } | undefined {
    if (command_id === undefined) return undefined;
    const { command, sessionId } = this.#commands.get(command_id, principal, reach, session_id);
    if (command.outcome || command.hasStarted || sessionId === null) return undefined;
    return { command, session: this.#sessions.get(sessionId, principal, reach) };
  }

  /**
   * Returns the command that runs in a session.
   * @throws AdapterError NO_RUNNING_COMMAND when the session is idle
   */
  running(
    request: Target,
    principal: Principal,
    reach: AccessKind = 'use',
  ): {
    command: Command;
    session: SessionRecord;
  } {
    if (request.command_id !== undefined) {
      const { command, session } = this.target(request, principal, reach);
      if (session) return { command, session };
      throw noTerminal();
    }
    const session = this.#sessions.get(request.session_id ?? '', principal, reach);
    const command = session.session.running;
    if (!command) {
      throw new AdapterError('NO_RUNNING_COMMAND', `nothing runs in session ${session.id}`, {
        details: { session_id: session.id },
      });
    }
    return { command, session };
  }
}
