import type { EventName, EventPayload } from '../../client/index.js';
import type { Context } from '../console/context.js';
import { paint } from '../console/style.js';
import type { CommandTerminals } from '../terminal/command-terminals.js';

/** Shows events in order. */
export interface Display {
  /** Shows an event after those before it. */
  event<N extends ShownEvent>(name: N, payload: EventPayload<N>): void;
  /** Resolves when all events have been written. */
  settled(): Promise<void>;
}

/** Events that are shown. */
export const SHOWN_EVENTS = [
  'command_output',
  'output_gap',
  'command_finished',
  'awaiting_input',
  'health_warning',
  'session_closed',
  'server_shutdown',
] as const satisfies readonly EventName[];

/** Name of an event that is shown. */
export type ShownEvent = (typeof SHOWN_EVENTS)[number];

/** Shows each event as a line of JSON; bytes are `{"base64": …}`. */
export function showAsJson({ stdout }: Context): Display {
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

/** Shows output as it is, and notes about other events on standard error if that is a terminal. */
export class TextDisplay implements Display {
  readonly #context: Pick<Context, 'stdout' | 'stderr'>;
  readonly #terminals: CommandTerminals | undefined;
  readonly #whenFree: TextOptions['whenFree'];
  readonly #lineEnd: string;
  /** Ids of running commands that have sent output events. */
  readonly #streamed = new Set<string>();
  #last: Promise<void> = Promise.resolve();

  constructor(context: Pick<Context, 'stdout' | 'stderr'>, { terminals, whenFree }: TextOptions) {
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

  /** Shows an event after those before it. */
  event<N extends ShownEvent>(name: N, payload: EventPayload<N>): void {
    this.#showers[name](payload);
  }

  /** Resolves when all events have been written. */
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
