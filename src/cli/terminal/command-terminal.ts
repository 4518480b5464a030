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

/** The two ends of a terminal connection. */
interface Connection {
  readonly client: AdapterClient;
  readonly session: ClientSession;
  /** The command; by default the running command of the session. */
  readonly command?: ClientCommand;
}

/**
 * Connects the terminal of this program to a command: keys, size, and confirmations. Disposing of it restores the
 * terminal.
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

/** Whether the command has not started yet: the daemon may still check it, or it waits for its confirmation. */
const isTooEarly = (error: unknown): boolean =>
  error instanceof ClientError && (error.code === 'COMMAND_NOT_FOUND' || error.code === 'NO_RUNNING_COMMAND');

/** Withdraws a pending confirmation. */
async function cancel(client: AdapterClient, { confirmation_id: id }: Wait): Promise<void> {
  try {
    await client.confirm(id, { decision: 'reject', justification: 'cancelled at the terminal' });
  } catch (error) {
    // It was decided in the meantime, or the connection is lost: the consequence is shown elsewhere.
    if (!(error instanceof ClientError)) throw error;
  }
}
