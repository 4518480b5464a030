import type { AdapterClient, CommandResult, EventPayload, OutputStreamName } from '../../../../client/index.js';
import type { CommandInfo } from '../../../state/wire.js';
import { endLine, startLine } from './command-lines.js';
import type { ScreenFeed } from './screen-feed.js';

/** Most output a second that is sent to this page, in bytes: many times what anybody can read. */
const MAX_BYTES_PER_SECOND = 1024 * 1024;
/** Commands that are shown of the time before. */
const EARLIER_COMMANDS = 20;
/** Bytes of each stream of an earlier command, and of the running one. */
const EARLIER_BYTES = 8 * 1024;
const RUNNING_BYTES = 64 * 1024;

const STREAMS = ['stdout', 'stderr'] as const;

/** What a watcher needs, and tells. */
export interface WatcherOptions {
  readonly client: AdapterClient;
  readonly sessionId: string;
  readonly feed: ScreenFeed;
  /** Finds a command among those that are known already. */
  readonly find: (commandId: string) => CommandInfo | undefined;
  /** Something waits in the feed. */
  readonly onFed: () => void;
  /** A command waits for input, with this prompt; undefined when it no longer does. */
  readonly onPrompt: (prompt: string | undefined) => void;
  /** A command has ended. */
  readonly onEnded: () => void;
}

type HeldEvent =
  | { readonly kind: 'output'; readonly event: EventPayload<'command_output'> }
  | { readonly kind: 'finished'; readonly event: CommandResult }
  | { readonly kind: 'awaiting'; readonly event: EventPayload<'awaiting_input'> };

const encoder = new TextEncoder();

/** Observes a session: fills a feed with its last commands, and with what it prints from then on. */
export class SessionWatcher {
  readonly #options: WatcherOptions;
  readonly #started = new Set<string>();
  readonly #ttyCommands = new Set<string>();
  readonly #held: HeldEvent[] = [];
  readonly #stops: (() => void)[] = [];
  #isBusy = true;
  #isStopped = false;

  constructor(options: WatcherOptions) {
    this.#options = options;
  }

  /** Whether the output of a command comes as a terminal gets it. */
  isTty(commandId: string): boolean {
    return this.#ttyCommands.has(commandId);
  }

  /** Begins. Rejects with a ClientError, such as SESSION_NOT_FOUND. */
  async start(): Promise<void> {
    const { client, sessionId } = this.#options;
    this.#listen();
    const session = await client.attachSession(sessionId, { maxBytesPerSecond: MAX_BYTES_PER_SECOND });
    this.#stops.push(() => {
      void session.detach();
    });
    if (this.#isStopped) {
      this.stop();
      return;
    }
    await this.#showEarlier();
    this.#isBusy = false;
    await this.#drain();
  }

  /** Stops observing. */
  stop(): void {
    this.#isStopped = true;
    for (const stop of this.#stops.splice(0)) stop();
  }

  #listen(): void {
    const { client, sessionId } = this.#options;
    this.#stops.push(
      client.on('command_output', (event) => {
        if (event.session_id === sessionId) this.#hold({ kind: 'output', event });
      }),
      client.on('command_finished', (event) => {
        if (event.session_id === sessionId) this.#hold({ kind: 'finished', event });
      }),
      client.on('awaiting_input', (event) => {
        if (event.session_id === sessionId) this.#hold({ kind: 'awaiting', event });
      }),
    );
  }

  #hold(event: HeldEvent): void {
    this.#held.push(event);
    void this.#drain();
  }

  async #drain(): Promise<void> {
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      for (let held = this.#held.shift(); held && !this.#isStopped; held = this.#held.shift()) {
        const id = held.event.command_id;
        if (!this.#started.has(id)) this.#begin(this.#options.find(id) ?? (await this.#lookUp(id)), id);
        this.#take(held);
      }
    } finally {
      this.#isBusy = false;
    }
  }

  #take(held: HeldEvent): void {
    if (held.kind === 'output') this.#onOutput(held.event);
    else if (held.kind === 'finished') this.#onFinished(held.event);
    else this.#options.onPrompt(held.event.prompt);
  }

  #onOutput({ command_id: commandId, stream, offset, data }: EventPayload<'command_output'>): void {
    const bytes = typeof data === 'string' ? encoder.encode(data) : data;
    this.#options.feed.add({ kind: 'output', commandId, stream, offset, data: bytes });
    this.#options.onPrompt(undefined);
    this.#options.onFed();
  }

  #onFinished(result: CommandResult): void {
    const { command_id: commandId, stdout_bytes: stdout, stderr_bytes: stderr } = result;
    this.#options.feed.add({ kind: 'end', commandId, sizes: { stdout, stderr }, text: endLine(result) });
    this.#options.onPrompt(undefined);
    this.#options.onEnded();
    this.#options.onFed();
  }

  #begin(info: CommandInfo | undefined, commandId: string): void {
    this.#started.add(commandId);
    if (info?.tty === true) this.#ttyCommands.add(commandId);
    this.#options.feed.add({ kind: 'mark', commandId, text: info ? startLine(info) : '' });
  }

  async #lookUp(commandId: string): Promise<CommandInfo | undefined> {
    const { client, sessionId } = this.#options;
    const { commands } = await client.request('list_commands', { session_id: sessionId, limit: EARLIER_COMMANDS });
    return commands.find((info) => info.command_id === commandId);
  }

  async #showEarlier(): Promise<void> {
    const { client, sessionId } = this.#options;
    const { commands } = await client.request('list_commands', { session_id: sessionId, limit: EARLIER_COMMANDS });
    const wanted = commands.filter(({ started_at: startedAt }) => startedAt !== null).reverse();
    const tails = await Promise.all(wanted.map((info) => this.#readTails(info)));
    wanted.forEach((info, index) => {
      this.#begin(info, info.command_id);
      for (const [stream, offset, data] of tails[index] ?? []) {
        this.#options.feed.add({ kind: 'output', commandId: info.command_id, stream, offset, data });
      }
      if (info.state === 'ended') this.#addEnd(info);
    });
    this.#options.onFed();
  }

  #addEnd(info: CommandInfo): void {
    const { command_id: commandId, stdout_bytes: stdout, stderr_bytes: stderr } = info;
    this.#options.feed.add({ kind: 'end', commandId, sizes: { stdout, stderr }, text: endLine(info) });
  }

  async #readTails(info: CommandInfo): Promise<(readonly [OutputStreamName, number, Uint8Array])[]> {
    const length = info.state === 'ended' ? EARLIER_BYTES : RUNNING_BYTES;
    const sizes = { stdout: info.stdout_bytes, stderr: info.stderr_bytes };
    const reads = STREAMS.filter((stream) => sizes[stream] > 0).map(async (stream) => {
      const offset = Math.max(0, sizes[stream] - length);
      const request = { command_id: info.command_id, stream, offset, length };
      // What the daemon no longer keeps is shown as a gap.
      const answer = await this.#options.client.request('read_output', request).catch(() => undefined);
      return answer && ([stream, answer.offset, answer.data] as const);
    });
    return (await Promise.all(reads)).filter((tail) => tail !== undefined);
  }
}
