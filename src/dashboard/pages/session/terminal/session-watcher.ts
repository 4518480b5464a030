import type { AdapterClient, CommandResult, EventPayload, OutputStreamName } from '../../../../client/index.js';
import { renderEvent, renderHeader } from '../../../../core/recording.js';
import { formatDuration } from '../../../format.js';
import type { CommandInfo } from '../../../state/wire.js';
import type { ScreenFeed } from './screen-feed.js';

const BOLD_CYAN = '\u001b[1;36m';
const BOLD = '\u001b[1m';
const RED = '\u001b[31m';
const RESET = '\u001b[0m';

/** Most characters of a command in its line. */
const MAX_CHARACTERS = 500;

/** The line of a command in the terminal. */
export function startLine({ command, args = [] }: Pick<CommandInfo, 'command' | 'args'>): string {
  const text = [command, ...args].join(' ');
  const cut = text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text;
  return `${BOLD_CYAN}❯${RESET} ${BOLD}${withoutControls(cut)}${RESET}`;
}

/** The line after a command that has not succeeded; empty for one that has. */
export function endLine(result: EndedCommand): string {
  const { exit_code: code, status, killed_by: killedBy, duration_ms: duration } = result;
  if (code === 0) return '';
  const what = status === 'completed' ? '' : ` ${status.replaceAll('_', ' ')}`;
  const why = killedBy === null ? '' : ` by ${killedBy}`;
  return `${RED}✗ exit ${code ?? '—'}${what}${why}${RESET} after ${formatDuration(duration)}`;
}

/** The fields of a result, or of a command info, about the end. */
type EndedCommand = Pick<CommandResult, 'exit_code' | 'status' | 'killed_by' | 'duration_ms'>;

/** A text with symbols for control characters: a command must not be able to change how the terminal shows it. */
function withoutControls(text: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what is replaced
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (character) => {
    const code = character.charCodeAt(0);
    if (character === '\n') return '⏎ ';
    return code < 0x20 ? String.fromCharCode(0x2400 + code) : '�';
  });
}

/** Most output a second that is sent to this page, in bytes: many times what anybody can read. */
const MAX_BYTES_PER_SECOND = 1024 * 1024;
/** Commands that are shown of the time before. */
const EARLIER_COMMANDS = 20;
/** Bytes of each stream of an earlier command, and of the running one. */
const EARLIER_BYTES = 8 * 1024;
const RUNNING_BYTES = 64 * 1024;

const STREAMS = ['stdout', 'stderr'] as const;

/** What a watcher needs, and tells. */
interface WatcherOptions {
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

/** Most bytes that are kept: some 50,000 lines. */
const MAX_BYTES = 4 * 1024 * 1024;
/** What an entry costs beside its bytes: thousands of short ones count too. */
const ENTRY_BYTES = 100;

/** Size of a terminal, in cells. */
export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

/** What the terminal got, or its new size. */
interface Entry {
  /** Milliseconds since the epoch; never less than that of the entry before. */
  readonly at: number;
  readonly what: Uint8Array | TerminalSize;
}

/** The newest of what a terminal has shown, with its times, for a file that players of asciicast can play. */
export class SeenOutput {
  #entries: Entry[] = [];
  #head = 0;
  #bytes = 0;
  /** The size before the first entry. */
  #size: TerminalSize = { cols: 80, rows: 24 };

  /** Whether nothing was shown yet. */
  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** Adds what the terminal got; the oldest is dropped above 4 MB. */
  add(bytes: Uint8Array, at: number): void {
    this.#push({ at, what: bytes });
  }

  /** Notes the size of the terminal. */
  resize(size: TerminalSize, at: number): void {
    if (this.isEmpty) this.#size = size;
    else this.#push({ at, what: size });
  }

  /** Renders an asciicast file, version 2. */
  toCast(title: string): string {
    const entries = this.#entries.slice(this.#head);
    const start = entries[0]?.at ?? 0;
    const { cols: width, rows: height } = this.#size;
    // Characters may go on in the next entry.
    const decoder = new TextDecoder();
    const events = entries.map(({ at, what }) => {
      const seconds = (at - start) / 1000;
      if (!(what instanceof Uint8Array)) return renderEvent(seconds, 'r', `${what.cols}x${what.rows}`);
      const text = decoder.decode(what, { stream: true });
      return text === '' ? '' : renderEvent(seconds, 'o', text);
    });
    return renderHeader({ version: 2, width, height, timestamp: Math.floor(start / 1000), title }) + events.join('');
  }

  #push(entry: Entry): void {
    this.#entries.push(entry);
    this.#bytes += costOf(entry);
    while (this.#bytes > MAX_BYTES && this.#head < this.#entries.length - 1) this.#dropOldest();
    if (this.#head * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
  }

  #dropOldest(): void {
    const oldest = this.#entries[this.#head];
    if (!oldest) return;
    this.#head += 1;
    this.#bytes -= costOf(oldest);
    if (!(oldest.what instanceof Uint8Array)) this.#size = oldest.what;
  }
}

const costOf = ({ what }: Entry): number => ENTRY_BYTES + (what instanceof Uint8Array ? what.length : 0);
