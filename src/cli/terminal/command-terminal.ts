import { setTimeout as sleep } from 'node:timers/promises';

import {
  type AdapterClient,
  type ClientCommand,
  ClientError,
  type ClientSession,
  ConfirmationRequiredError,
} from '../../client/index.js';
import type { Context } from '../console/context.js';
import { confirmInput } from './input-questions.js';
import { ConnectedTerminal } from './interactive-terminal.js';
import { showWaits, type Wait } from './waiting-notes.js';

/** Pause before keys are sent again to a command that has not started yet, in milliseconds. */
const RETRY_MS = 50;

/** What a terminal is connected to. */
interface Connection {
  readonly client: AdapterClient;
  readonly session: ClientSession;
  /** By default whatever runs in the session. */
  readonly command?: ClientCommand;
}

/**
 * Connects the terminal of this program to a command: keys, size, and everything that has to be confirmed. Dispose of it to have the
 * terminal as it was.
 */
export function openTerminal(
  context: Context,
  { client, session, command }: Connection,
): AsyncDisposable & Pick<ConnectedTerminal, 'closed' | 'whenFree'> {
  const peer = command ?? session;
  const ended = (command?.result ?? new Promise<never>(() => undefined)).then(
    () => true,
    () => true,
  );
  const send = async (keys: string): Promise<void> => {
    for (;;) {
      try {
        await peer.sendInput(keys);
        return;
      } catch (error) {
        if (error instanceof ConfirmationRequiredError) return confirmInput(client, terminal, error);
        if (!command || !isTooEarly(error)) throw error;
        if (await Promise.race([ended, sleep(RETRY_MS, false)])) throw error;
      }
    }
  };
  const terminal = new ConnectedTerminal(context, { send, resize: (columns, rows) => session.resize(columns, rows) });
  const waits = showWaits(client, {
    isOwn: ({ kind, command_id: commandId, session_id: sessionId }) =>
      command ? commandId === command.id : sessionId === session.id && kind === 'input' && terminal.isSending,
    note: (text) => {
      terminal.note(text);
    },
    beginLine: () => void context.stderr.write('\r\n'),
    onWait: (wait) => terminal.hold(() => void cancel(client, wait)),
  });
  return {
    closed: terminal.closed,
    whenFree: () => terminal.whenFree(),
    [Symbol.asyncDispose]: async () => {
      waits[Symbol.dispose]();
      await terminal[Symbol.asyncDispose]();
    },
  };
}

/** Whether a command is not there yet: the daemon may still look at it, or wait for its confirmation. */
const isTooEarly = (error: unknown): boolean =>
  error instanceof ClientError && (error.code === 'COMMAND_NOT_FOUND' || error.code === 'NO_RUNNING_COMMAND');

/** Takes back what waits for its confirmation. */
async function cancel(client: AdapterClient, { confirmation_id: id }: Wait): Promise<void> {
  try {
    await client.confirm(id, { decision: 'reject', justification: 'cancelled at the terminal' });
  } catch (error) {
    // It has been decided meanwhile, or the connection is gone: what follows from that is shown.
    if (!(error instanceof ClientError)) throw error;
  }
}
