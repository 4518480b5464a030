import { createInterface } from 'node:readline';

import type { AdapterClient, ClientSession, CommandResult, EventName, EventPayload } from '../client.js';
import type { Context } from './context.js';
import type { DaemonOptions } from './daemon-address.js';
import { reportFailure } from './failure.js';
import { paint } from './style.js';
import { withDaemon } from './with-daemon.js';

/** What `attach` takes beside the session. */
export interface AttachOptions extends DaemonOptions {
  readonly fromSeq?: number;
  readonly input?: boolean;
  readonly json?: boolean;
}

/**
 * Shows a session until it ends or a signal comes.
 * @throws CommandLineError, ConfigurationError, ClientError
 */
export async function followSession(context: Context, id: string, options: AttachOptions): Promise<void> {
  const detached = new Promise<void>((resolve) => {
    context.onSignal(['SIGINT', 'SIGTERM', 'SIGHUP'], () => {
      resolve();
    });
  });
  await withDaemon(options, context, async (client) => {
    const show = options.json ? showAsJson(context) : showAsText(context);
    const ended = listen(client, id, show);
    // Events that are sent again come before the answer: the listeners have to be there.
    const session = await client.attachSession(id, { fromSeq: options.fromSeq });
    if (options.input) sendLines(context, session);
    await Promise.race([ended, detached, context.stdout.broken]);
    await session.detach();
    await show.settled();
  });
}

/** Shows events, one after another. */
interface Display {
  event<N extends ShownEvent>(name: N, payload: EventPayload<N>): void;
  /** Resolves when all of them have been written. */
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

/** Resolves when the session has ended; rejects when the connection is gone for good. */
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

function showAsText({ stdout, stderr }: Context): Display {
  let last: Promise<void> = Promise.resolve();
  /** The running command, when some of its output has come as events. */
  const streamed = new Set<string>();
  const note = (text: string) => {
    if (stderr.isTerminal) void stderr.write(paint(stderr, 'dim', `shell-adapter: ${text}\n`));
  };
  const showers: { [N in ShownEvent]: (payload: EventPayload<N>) => void } = {
    command_output: ({ command_id, stream, data }) => {
      streamed.add(command_id);
      last = (stream === 'stdout' ? stdout : stderr).write(data);
    },
    output_gap: ({ from_seq, to_seq }) => {
      void stderr.write(`shell-adapter: events ${from_seq} to ${to_seq} are missing\n`);
    },
    command_finished: (result) => {
      // A command that was not run with `stream` tells its output at its end alone.
      if (!streamed.delete(result.command_id)) last = writeOutput(stdout, stderr, result);
      note(`${result.command_id} ${result.status}, exit code ${String(result.exit_code)}`);
    },
    awaiting_input: () => {
      note('the command waits for input');
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

async function writeOutput(
  stdout: Context['stdout'],
  stderr: Context['stderr'],
  { stdout: out, stderr: err, encoding }: CommandResult,
): Promise<void> {
  const bytes = encoding === 'base64' ? 'base64' : 'utf8';
  await stdout.write(Buffer.from(out, bytes));
  await stderr.write(Buffer.from(err, bytes));
}

/** Sends each line to what runs in the session; the end of the input is its end of input. */
function sendLines(context: Context, session: ClientSession): void {
  const report = (error: unknown) => reportFailure(error, context.stderr);
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
