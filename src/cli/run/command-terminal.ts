import { setTimeout as sleep } from 'node:timers/promises';

import {
  type AdapterClient,
  type ClientCommand,
  ClientError,
  type ClientSession,
  ConfirmationRequiredError,
  type EventPayload,
} from '../../client/index.js';
import { askWhileOpen, ENDED_ELSEWHERE, REFUSED_HERE } from './confirmations.js';
import type { Context } from '../console/context.js';
import { onOneLine, reasonLines } from '../console/style.js';
import { ConnectedTerminal } from './interactive-terminal.js';

/** Longest name of who has confirmed something, in characters. */
const MAX_NAME = 200;

/** Typed input was not delivered because it was not confirmed. */
class NotConfirmed extends Error {}

/**
 * Asks the person at a terminal to confirm typed input, and types it if the answer is yes. Rejects when it was not
 * typed.
 */
async function confirmInput(
  client: AdapterClient,
  terminal: ConnectedTerminal,
  { confirmation }: ConfirmationRequiredError,
): Promise<void> {
  const { confirmation_id: id, command_sha256: commandSha256 } = confirmation;
  const reply = await askWhileOpen(client, id, (ended) => terminal.ask(linesOf(confirmation), ended));
  if (reply === 'approved') return;
  if (typeof reply === 'string') throw new NotConfirmed(ENDED_ELSEWHERE[reply]);
  await client.confirm(id, { ...reply, commandSha256 });
  if (reply.decision === 'reject') throw new NotConfirmed(REFUSED_HERE);
}

function linesOf({ class: name, reasons }: ConfirmationRequiredError['confirmation']): string[] {
  return name === 'interactive'
    ? [
        'shell-adapter: the running command has started a program that executes what is typed:',
        ...reasonLines(reasons),
        'Send this, and everything that is typed into this command? [y/N]',
      ]
    : ['shell-adapter: this line has to be confirmed before it is sent:', ...reasonLines(reasons), 'Send it? [y/N]'];
}

/** Names of the deciders other than this client, for messages. */
const DECIDERS = {
  operator: 'an operator',
  llm: 'the reviewing model',
} as const;

/** A pending confirmation that this client cannot decide. */
type Wait = EventPayload<'confirmation_required'>;

/** Display of pending confirmations. */
interface WaitingDisplay {
  /** Whether the confirmation belongs to this program. */
  readonly isOwn: (wait: Wait) => boolean;
  /** Prints one line. */
  readonly note: (text: string) => void;
  /** Starts a new line; the current one may contain typed text. */
  readonly beginLine?: () => void;
  /** Called when a wait starts. The returned object is disposed when the wait ends. */
  readonly onWait?: (wait: Wait) => Disposable;
}

/**
 * Shows that a command or typed input waits for an operator or a model, and that it was confirmed. A rejection is
 * reported as an error elsewhere.
 */
export function showWaits(client: AdapterClient, { isOwn, note, beginLine, onWait }: WaitingDisplay): Disposable {
  const waits = new Map<string, Disposable | undefined>();
  const subscriptions = [
    client.on('confirmation_required', (asked) => {
      const { confirmation_id: id, kind, requires, reasons, class: name } = asked;
      if (requires === 'self' || waits.has(id) || !isOwn(asked)) return;
      waits.set(id, onWait?.(asked));
      if (kind === 'input') beginLine?.();
      const what = kind === 'input' ? 'what was typed' : 'the command';
      note(`waiting for ${DECIDERS[requires]} to confirm ${what} (${name}); Ctrl-C cancels`);
      for (const reason of reasonLines(reasons)) note(reason);
      if (requires === 'operator')
        note(`  operators confirm by: shell-adapter confirm --watch --url ${client.url}, with a token of their own`);
    }),
    client.on('confirmation_resolved', ({ confirmation_id: id, outcome, decided_by: by }) => {
      if (!waits.has(id)) return;
      const wait = waits.get(id);
      waits.delete(id);
      if (outcome === 'approved') note(`confirmed by ${onOneLine(by ?? 'another client', MAX_NAME)}`);
      wait?.[Symbol.dispose]();
    }),
  ];
  return {
    [Symbol.dispose]: () => {
      for (const unsubscribe of subscriptions) unsubscribe();
      for (const wait of waits.values()) wait?.[Symbol.dispose]();
      waits.clear();
    },
  };
}

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
export function openTerminal(context: Context, { client, session, command }: Connection) {
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

/** Adapts the output of a session for a terminal in raw mode, which does not add carriage returns. */
export class CommandTerminals {
  readonly #client: AdapterClient;
  readonly #sessionId: string;
  /** Whether each command runs on a terminal of its own, which has already processed the line ends. */
  readonly #known = new Map<string, boolean>();

  constructor(client: AdapterClient, sessionId: string) {
    this.#client = client;
    this.#sessionId = sessionId;
  }

  /** Converts the output of a command for this terminal. */
  async adapt(commandId: string, data: string | Uint8Array): Promise<string | Uint8Array> {
    if (await this.isOnTerminal(commandId)) return data;
    const text = typeof data === 'string' ? data : Buffer.from(data).toString('latin1');
    const adapted = text.replaceAll(/\r?\n/g, '\r\n');
    return typeof data === 'string' ? adapted : Buffer.from(adapted, 'latin1');
  }

  /** Whether a command runs on a terminal of its own; the first answer is cached. */
  async isOnTerminal(commandId: string): Promise<boolean> {
    const known = this.#known.get(commandId);
    if (known !== undefined) return known;
    const isOnTerminal = await this.#ask(commandId);
    this.#known.set(commandId, isOnTerminal);
    return isOnTerminal;
  }

  async #ask(commandId: string): Promise<boolean> {
    try {
      const { running_command: running } = await this.#client.request('get_session', { session_id: this.#sessionId });
      // A command that has ended already was not a full-screen program, so the answer does not matter.
      return running?.command_id === commandId && running.tty;
    } catch {
      // The session or the connection has ended, which is reported elsewhere.
      return false;
    }
  }
}
