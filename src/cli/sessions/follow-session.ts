import { createInterface } from 'node:readline';

import {
  type AdapterClient,
  type ClientSession,
  ConfirmationRequiredError,
  type EventName,
  type EventPayload,
} from '../../client/index.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { untilClosed, withDaemon } from '../connect/with-daemon.js';
import { commandLineFor, type Context, untilStopped } from '../console/context.js';
import { CommandLineError, reportFailure, UsageError } from '../console/failure.js';
import { confirmationHint, paint } from '../console/style.js';
import type { JsonOption } from '../console/subcommand.js';
import { CommandTerminals, openTerminal } from '../run/command-terminal.js';

/** Shows events in order. */
interface Display {
  /** Shows an event after those before it. */
  event<N extends ShownEvent>(name: N, payload: EventPayload<N>): void;
  /** Resolves when all events have been written. */
  settled(): Promise<void>;
}

/** Events that are shown. */
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

/** Shows each event as a line of JSON; bytes are `{"base64": …}`. */
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

/** Shows output as it is, and notes about other events on standard error if that is a terminal. */
class TextDisplay implements Display {
  readonly #context: Context;
  readonly #terminals: CommandTerminals | undefined;
  readonly #whenFree: () => Promise<void> | undefined;
  readonly #lineEnd: string;
  /** Ids of running commands that have sent output events. */
  readonly #streamed = new Set<string>();
  #last: Promise<void> = Promise.resolve();

  /**
   * @param terminals defined when this terminal is in raw mode, where every line end needs a carriage return
   * @param whenFree resolves when output may be written; undefined when it may be written at once
   */
  constructor(context: Context, terminals: CommandTerminals | undefined, whenFree: () => Promise<void> | undefined) {
    this.#context = context;
    this.#terminals = terminals;
    this.#whenFree = whenFree;
    this.#lineEnd = terminals ? '\r\n' : '\n';
  }

  readonly #showers: { readonly [N in ShownEvent]: (payload: EventPayload<N>) => void } = {
    command_output: (output) => this.#showOutput(output),
    output_gap: ({ from_seq, to_seq }) => {
      const missing = `shell-adapter: events ${from_seq} to ${to_seq} are missing${this.#lineEnd}`;
      this.#show(() => this.#context.stderr.write(missing));
    },
    command_finished: (result) => this.#showEnd(result),
    awaiting_input: ({ command_id }) => {
      this.#show(async () => {
        // A program on a terminal prints its own prompt, and this line would appear after it.
        const hasPrompt = await this.#terminals?.isOnTerminal(command_id);
        if (!hasPrompt) await this.#writeNote('the command waits for input');
      });
    },
    health_warning: ({ warnings }) => {
      for (const { message } of warnings) this.#note(message);
    },
    session_closed: ({ detail }) => this.#note(`the session has ended: ${detail}`),
    server_shutdown: ({ reason, node }) =>
      this.#note(`${node === undefined ? 'the daemon' : `node ${node}`} is stopping: ${reason}`),
  };

  event<N extends ShownEvent>(name: N, payload: EventPayload<N>): void {
    this.#showers[name](payload);
  }

  settled(): Promise<void> {
    return this.#last;
  }

  #showOutput({ command_id, stream, data }: EventPayload<'command_output'>): void {
    this.#streamed.add(command_id);
    const output = this.#context[stream];
    this.#show(async () => {
      await this.#whenFree();
      await output.write(this.#terminals ? await this.#terminals.adapt(command_id, data) : data);
    });
  }

  #showEnd(result: EventPayload<'command_finished'>): void {
    // A command without `stream` reports its output only at its end.
    if (!this.#streamed.delete(result.command_id)) this.#show(() => this.#writeWhole(result));
    this.#note(`${result.command_id} ${result.status}, exit code ${String(result.exit_code)}`);
  }

  async #writeWhole(result: EventPayload<'command_finished'>): Promise<void> {
    for (const stream of ['stdout', 'stderr'] as const) {
      const bytes = Buffer.from(result[stream], result.encoding === 'base64' ? 'base64' : 'utf8');
      const data = this.#terminals ? await this.#terminals.adapt(result.command_id, bytes) : bytes;
      await this.#context[stream].write(data);
    }
  }

  #show(write: () => Promise<void>): void {
    this.#last = this.#last.then(write);
  }

  #note(text: string): void {
    this.#show(() => this.#writeNote(text));
  }

  async #writeNote(text: string): Promise<void> {
    const { stderr } = this.#context;
    if (stderr.isTerminal) await stderr.write(paint(stderr, 'dim', `shell-adapter: ${text}`) + this.#lineEnd);
  }
}

/** Rate of `--observe`, in bytes per second: more than a terminal shows. */
const OBSERVED_BYTES_PER_SECOND = 4 * 1024 * 1024;

interface Following extends DaemonOptions, JsonOption {
  readonly fromSeq?: number;
  readonly input?: boolean;
  readonly observe?: boolean;
}

/**
 * Shows a session until it ends or a signal arrives.
 * @throws CommandLineError, ConfigurationError, ClientError
 */
export async function followSession(context: Context, options: Following, id: string): Promise<void> {
  if (options.observe === true && options.input === true)
    throw new UsageError('--observe only looks: leave out --input, or follow the session without --observe');
  await untilStopped(context, (_signal, stopped) =>
    withDaemon(options, context, (client) => follow(context, client, { id, options, stopped })),
  );
}

async function follow(
  context: Context,
  client: AdapterClient,
  { id, options, stopped }: { readonly id: string; readonly options: Following; readonly stopped: Promise<void> },
): Promise<void> {
  const isInteractive = options.input === true && options.json !== true && context.stdin.isTTY;
  const terminals = isInteractive ? new CommandTerminals(client, id) : undefined;
  let whenFree: () => Promise<void> | undefined = () => undefined;
  const show = options.json ? showAsJson(context) : new TextDisplay(context, terminals, () => whenFree());
  const ended = Promise.race([listen(client, id, show), untilClosed(client)]);
  ended.catch(() => undefined);
  // Replayed events arrive before the answer, so the listeners must be installed first.
  const session = await client.attachSession(id, {
    fromSeq: options.fromSeq,
    maxBytesPerSecond: options.observe === true ? OBSERVED_BYTES_PER_SECOND : undefined,
  });
  const terminal = isInteractive ? openTerminal(context, { client, session }) : undefined;
  if (options.input && !terminal) sendLines(context, options, session);
  const over = Promise.race([ended, stopped, ...(terminal ? [terminal.closed] : [])]);
  const hasEnded = over.catch(() => undefined);
  if (terminal) whenFree = () => Promise.race([terminal.whenFree(), hasEnded]);
  try {
    await over;
    await show.settled();
  } finally {
    await terminal?.[Symbol.asyncDispose]();
    await session.detach();
  }
}

/** Resolves when the session has ended. */
const listen = (client: AdapterClient, id: string, show: Display): Promise<void> =>
  new Promise((resolve) => {
    for (const name of SHOWN_EVENTS) {
      client.on(name, (payload: EventPayload<ShownEvent>) => {
        if ('session_id' in payload && payload.session_id !== id) return;
        show.event(name, payload);
        if (name === 'session_closed') resolve();
      });
    }
  });

/** Sends each line to the running command of the session, and EOF at the end of the input. */
function sendLines(context: Context, options: Following, session: ClientSession): void {
  const commandLine = commandLineFor(context, options);
  const report = (error: unknown) => {
    if (!(error instanceof ConfirmationRequiredError)) return reportFailure(error, context.stderr, commandLine);
    const hint = confirmationHint(commandLine, error.confirmation.confirmation_id);
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
