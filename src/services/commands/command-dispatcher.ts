import type { CommandRequest } from '../../core/protocol/requests.js';
import type { Warning } from '../../engine/command/outcome.js';
import type { Caller, EventSink } from '../registry/caller.js';
import { type CommandRecord, renderResult } from '../registry/command-record.js';
import { OutputChannel } from '../registry/output-channel.js';
import { renderBreach } from '../registry/rendered-limits.js';
import type { ResourceMonitor } from '../limits/resource-monitor.js';
import type { SessionRecord } from '../registry/session-registry.js';
import type { Sessions } from '../sessions/sessions.js';
import type { Executions } from '../executions.js';

interface CommandDispatcherOptions {
  readonly sessions: Sessions;
  readonly executions: Executions;
  readonly monitor: ResourceMonitor;
}

/** Runs accepted commands, and sends their output and end to the clients that follow them. */
export class CommandDispatcher {
  readonly #options: CommandDispatcherOptions;

  constructor(options: CommandDispatcherOptions) {
    this.#options = options;
  }

  /** Runs a command in a session, after the commands that were queued before it. */
  inSession(record: CommandRecord, session: SessionRecord, request: CommandRequest, sink: EventSink | undefined): void {
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
    this.#options.sessions.touch(session);
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
      this.#options.sessions.touch(session);
    });
    command.atEnd('late_output', () => {
      channel.open(command, record.style.encoding);
    });
    session.session.enqueue(command);
  }

  /** Runs a command as a one-shot, in a process of its own. */
  alone(record: CommandRecord, request: CommandRequest, sink: EventSink | undefined): void {
    const { command } = record;
    const { oneShots } = this.#options.executions.of(record.owner);
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
      this.#options.monitor.watch(watched, {
        onNear: (breach, level) => {
          const warning = { session_id: null, command_id: command.id, level, ...renderBreach(breach) };
          channel?.announce('resource_warning', warning);
        },
      });
    });
  }

  /** Runs a one-shot on a terminal: in a session that is opened for the command and closed after it. */
  onOwnTerminal(record: CommandRecord, request: CommandRequest, caller: Caller): void {
    const { sessions } = this.#options;
    const run = async () => {
      const { resourceLimits: limits } = record.command.spec;
      const session = await sessions.open({ limits, sandbox: request.sandbox }, caller, { isHidden: true });
      this.inSession(record, session, request, caller.sink);
      await record.command.finished;
      record.host = undefined;
      await sessions.close(session.id, 'client', 'its one-shot command has ended');
    };
    run().catch((error: unknown) => {
      const message = (error as Error).message;
      const warnings: Warning[] = [{ code: 'NOT_STARTED', message }];
      record.command.finish({ exitCode: 126, sessionState: null, workingDirectory: null, warnings });
    });
  }
}
