import { createInterface } from 'node:readline';

import {
  type AdapterClient,
  type ClientSession,
  ConfirmationRequiredError,
  type EventName,
  type EventPayload,
} from '../../client/index.js';
import { openTerminal } from '../terminal/command-terminal.js';
import { CommandTerminals } from '../terminal/command-terminals.js';
import { commandLineFor } from '../console/command-line.js';
import type { Context } from '../console/context.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { CommandLineError, reportFailure } from '../console/failure.js';
import { paint } from '../console/style.js';
import { withDaemon } from '../connect/with-daemon.js';

/** Options of `attach`. */
export interface AttachOptions extends DaemonOptions {
  readonly fromSeq?: number;
  readonly input?: boolean;
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
    const show = options.json ? showAsJson(context) : showAsText(context, { terminals, whenFree: () => whenFree() });
    const ended = listen(client, id, show);
    // Replayed events arrive before the answer, so the listeners must be installed first.
    const session = await client.attachSession(id, { fromSeq: options.fromSeq });
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

/** Shows events in order. */
interface Display {
  event<N extends ShownEvent>(name: N, payload: EventPayload<N>): void;
  /** Resolves when all events have been written. */
  settled(): Promise<void>;
}

const SHOWN_EVENTS = [
  'command_output',
  'output_gap',
  'command_finished',
  'awaiting_input',
  'health_warning',
  'session_closed',
  'server_shutdown',
] as const satisfies readonly EventName[];

type ShownEvent = (typeof SHOWN_EVENTS)[number];

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

function showAsJson({ stdout }: Context): Display {
  let last: Promise<void> = Promise.resolve();
  return {
    event: (name, payload) => {
      const line = JSON.stringify({ event: name, ...payload }, (_key, value: unknown) =>
        value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value,
      );
      last = stdout.write(`${line}\n`);
    },
    settled: () => last,
  };
}

/** Options of the text display. */
interface TextOptions {
  /** Defined when this terminal is in raw mode, where every line end needs a carriage return. */
  readonly terminals: CommandTerminals | undefined;
  /** Resolves when output may be written; undefined when it may be written at once. */
  readonly whenFree: () => Promise<void> | undefined;
}

function showAsText({ stdout, stderr }: Context, { terminals, whenFree }: TextOptions): Display {
  let last: Promise<void> = Promise.resolve();
  /** Ids of running commands that have sent output events. */
  const streamed = new Set<string>();
  const show = (write: () => Promise<void>) => {
    last = last.then(write);
  };
  const end = terminals ? '\r\n' : '\n';
  const write = async (text: string) => {
    if (stderr.isTerminal) await stderr.write(paint(stderr, 'dim', `shell-adapter: ${text}`) + end);
  };
  const note = (text: string) => {
    show(() => write(text));
  };
  const showers: { [N in ShownEvent]: (payload: EventPayload<N>) => void } = {
    command_output: ({ command_id, stream, data }) => {
      streamed.add(command_id);
      const output = stream === 'stdout' ? stdout : stderr;
      show(async () => {
        await whenFree();
        await output.write(terminals ? await terminals.adapt(command_id, data) : data);
      });
    },
    output_gap: ({ from_seq, to_seq }) => {
      show(() => stderr.write(`shell-adapter: events ${from_seq} to ${to_seq} are missing${end}`));
    },
    command_finished: (result) => {
      // A command without `stream` reports its output only at its end.
      if (!streamed.delete(result.command_id)) {
        show(async () => {
          for (const stream of ['stdout', 'stderr'] as const) {
            const bytes = Buffer.from(result[stream], result.encoding === 'base64' ? 'base64' : 'utf8');
            const data = terminals ? await terminals.adapt(result.command_id, bytes) : bytes;
            await (stream === 'stdout' ? stdout : stderr).write(data);
          }
        });
      }
      note(`${result.command_id} ${result.status}, exit code ${String(result.exit_code)}`);
    },
    awaiting_input: ({ command_id }) => {
      show(async () => {
        // A program on a terminal prints its own prompt, and this line would appear after it.
        if (!(await terminals?.isOnTerminal(command_id))) await write('the command waits for input');
      });
    },
    health_warning: ({ warnings }) => {
      for (const { message } of warnings) note(message);
    },
    session_closed: ({ detail }) => {
      note(`the session has ended: ${detail}`);
    },
    server_shutdown: ({ reason }) => {
      note(`the daemon is stopping: ${reason}`);
    },
  };
  return {
    event: (name, payload) => {
      showers[name](payload);
    },
    settled: () => last,
  };
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
