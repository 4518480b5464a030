import { createInterface } from 'node:readline';

import {
  type AdapterClient,
  type ClientSession,
  ConfirmationRequiredError,
  type EventPayload,
} from '../../client/index.js';
import { openTerminal } from '../terminal/command-terminal.js';
import { CommandTerminals } from '../terminal/command-terminals.js';
import { commandLineFor } from '../console/command-line.js';
import type { Context } from '../console/context.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { CommandLineError, reportFailure } from '../console/failure.js';
import { withDaemon } from '../connect/with-daemon.js';
import { type Display, SHOWN_EVENTS, type ShownEvent, showAsJson, TextDisplay } from './event-display.js';

/** Rate of `--observe`, in bytes per second: more than a terminal shows. */
const OBSERVED_BYTES_PER_SECOND = 4 * 1024 * 1024;

/** Options of `attach`. */
export interface AttachOptions extends DaemonOptions {
  readonly fromSeq?: number;
  readonly input?: boolean;
  readonly observe?: boolean;
  readonly json?: boolean;
}

/**
 * Shows a session until it ends or a signal arrives.
 * @throws CommandLineError, ConfigurationError, ClientError
 */
export async function followSession(context: Context, id: string, options: AttachOptions): Promise<void> {
  const detached = new Promise<void>((resolve) => {
    context.onSignal(['SIGINT', 'SIGTERM', 'SIGHUP'], () => {
      resolve();
    });
  });
  const isInteractive = options.input === true && options.json !== true && context.stdin.isTTY;
  await withDaemon(options, context, async (client) => {
    const terminals = isInteractive ? new CommandTerminals(client, id) : undefined;
    let whenFree: () => Promise<void> | undefined = () => undefined;
    const show = options.json
      ? showAsJson(context)
      : new TextDisplay(context, { terminals, whenFree: () => whenFree() });
    const ended = listen(client, id, show);
    // Replayed events arrive before the answer, so the listeners must be installed first.
    const session = await client.attachSession(id, {
      fromSeq: options.fromSeq,
      maxBytesPerSecond: options.observe === true ? OBSERVED_BYTES_PER_SECOND : undefined,
    });
    const terminal = isInteractive ? openTerminal(context, { client, session }) : undefined;
    if (options.input && !terminal) sendLines(context, options, session);
    const over = Promise.race([ended, detached, context.stdout.broken, ...(terminal ? [terminal.closed] : [])]);
    const hasEnded = over.catch(() => undefined);
    if (terminal) whenFree = () => Promise.race([terminal.whenFree(), hasEnded]);
    try {
      await over;
      await show.settled();
    } finally {
      await terminal?.[Symbol.asyncDispose]();
      await session.detach();
    }
  });
}

/** Resolves when the session has ended; rejects when the connection is closed permanently. */
function listen(client: AdapterClient, id: string, show: Display): Promise<void> {
  const ended = new Promise<void>((resolve, reject) => {
    for (const name of SHOWN_EVENTS) {
      client.on(name, (payload: EventPayload<ShownEvent>) => {
        if ('session_id' in payload && payload.session_id !== id) return;
        show.event(name, payload);
        if (name === 'session_closed') resolve();
      });
    }
    client.onConnection((state, error) => {
      if (state === 'closed') reject(error ?? new Error('the connection has ended'));
    });
  });
  ended.catch(() => undefined);
  return ended;
}

/** Sends each line to the running command of the session, and EOF at the end of the input. */
function sendLines(context: Context, options: AttachOptions, session: ClientSession): void {
  const commandLine = commandLineFor(context, options);
  const report = (error: unknown) => {
    if (!(error instanceof ConfirmationRequiredError)) return reportFailure(error, context.stderr, commandLine);
    const { confirmation_id: id } = error.confirmation;
    const hint = `Confirm it: ${commandLine(`confirm ${id} --approve --justification '…'`)}`;
    return reportFailure(new CommandLineError(`not sent: ${error.message}`, { hint }), context.stderr);
  };
  const lines = createInterface({ input: context.stdin, crlfDelay: Infinity });
  let sent: Promise<unknown> = Promise.resolve();
  const send = (data: string, eof: boolean) => {
    sent = sent.then(() => session.sendInput(data, { eof })).catch(report);
  };
  lines.on('line', (line) => {
    send(`${line}\n`, false);
  });
  lines.on('close', () => {
    send('', true);
  });
}
