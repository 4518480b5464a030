import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { AdapterClient } from '../../client/index.js';
import { onAbort } from '../../core/abort.js';
import { parseCast, Timeline } from '../../core/recording.js';
import { MAX_TIMER_MS } from '../../core/time.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import { type Context, untilStopped } from '../console/context.js';
import { CommandLineError, messageOf } from '../console/failure.js';

/** How far an arrow key moves, in milliseconds. */
const STEP_MS = 5000;
/** Resets the terminal, before a recording is shown again from its beginning. */
const RESET = '\x1bc';

/** An arrow key as a terminal sends it, and as it does when a program that is shown has switched to application mode. */
const bothForms = (letter: string, action: () => void) => ({ [`\x1b[${letter}`]: action, [`\x1bO${letter}`]: action });

interface PlayerOptions {
  readonly speed: number;
  /** Resolves when more may be written. */
  readonly write: (text: string) => Promise<void>;
}

/** Plays a recording with its timing; keys pause, move and end it. */
export class Player {
  readonly #timeline: Timeline;
  readonly #options: PlayerOptions;
  #next = 0;
  /** Position at `#since`, in milliseconds. */
  #position = 0;
  #since = performance.now();
  #isPaused = false;
  #isStopped = false;
  #wake = new AbortController();
  /** Position to move to; undefined when it plays on. */
  #target: number | undefined;

  constructor(timeline: Timeline, options: PlayerOptions) {
    this.#timeline = timeline;
    this.#options = options;
  }

  /** Plays until the end; a pause at the end is over at once. */
  async play(): Promise<void> {
    this.#since = performance.now();
    while (!this.#isStopped) {
      if (this.#target !== undefined) await this.#move(this.#target);
      else if (this.#next >= this.#timeline.events.length) return;
      else await this.#step();
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.#interrupt();
  }

  /** Takes keys of a terminal in raw mode. */
  press(keys: string): void {
    const action = this.#keys[keys];
    if (!action) return;
    action();
    this.#interrupt();
  }

  readonly #keys: Readonly<Partial<Record<string, () => void>>> = {
    ' ': () => {
      this.#hold(!this.#isPaused);
    },
    ...bothForms('C', () => (this.#target = this.#now + STEP_MS)),
    ...bothForms('D', () => (this.#target = Math.max(0, this.#now - STEP_MS))),
    n: () => (this.#target = this.#timeline.marks.find(({ atMs }) => atMs > this.#now)?.atMs ?? this.#target),
    p: () => (this.#target = this.#timeline.marks.findLast(({ atMs }) => atMs < this.#now - 1000)?.atMs ?? 0),
    q: () => (this.#isStopped = true),
    '\x03': () => (this.#isStopped = true),
  };

  get #now(): number {
    if (this.#isPaused) return this.#position;
    return this.#position + (performance.now() - this.#since) * this.#options.speed;
  }

  #hold(isPaused: boolean): void {
    this.#position = this.#now;
    this.#since = performance.now();
    this.#isPaused = isPaused;
  }

  #interrupt(): void {
    this.#wake.abort();
    this.#wake = new AbortController();
  }

  async #step(): Promise<void> {
    const dueInMs = (this.#timeline.timeOf(this.#next) - this.#now) / this.#options.speed;
    if (this.#isPaused || dueInMs > 0) {
      const waitMs = this.#isPaused ? MAX_TIMER_MS : Math.min(dueInMs, MAX_TIMER_MS);
      await sleep(waitMs, undefined, { signal: this.#wake.signal }).catch(() => undefined);
      return;
    }
    const until = Math.max(this.#next + 1, this.#timeline.indexAfter(this.#now));
    await this.#show(until);
  }

  async #move(target: number): Promise<void> {
    this.#target = undefined;
    const until = this.#timeline.indexAfter(target);
    if (until < this.#next) {
      this.#next = 0;
      await this.#options.write(RESET);
    }
    this.#position = Math.min(target, this.#timeline.durationMs);
    this.#since = performance.now();
    await this.#show(until);
  }

  async #show(until: number): Promise<void> {
    const output = this.#timeline.outputOf(this.#next, until);
    this.#next = until;
    if (output !== '') await this.#options.write(output);
  }
}

/** Form of the ids of recordings: anything else is a file. */
const RECORDING_ID = /^recording_[\w-]{22}$/u;

/** Modes of the keyboard, the mouse, pasting and margins that programs switch on: xterm's control sequences. */
const SWITCHED_OFF = [1, 6, 1000, 1002, 1003, 1004, 1005, 1006, 1015, 2004].map((mode) => `\x1b[?${mode}l`).join('');
/**
 * Gives the terminal back as a shell expects it: a recording may end in the middle of a program. Leaves the alternate screen, and resets
 * what is set, by DECSTR, and one by one for terminals that lack it. Then to the last line, since the cursor may be anywhere.
 */
const RESTORE_SCREEN = `\x1b[?1049l\x1b[!p\x1b[4l\x1b[r\x1b(B\x1b[0m\x1b[?7h\x1b[?25h${SWITCHED_OFF}\x1b>\x1b[999;1H`;

/**
 * Plays a recording until its end, or until the person ends it.
 * @param options `idle`: the longest pause, in seconds
 * @throws CommandLineError, ConfigurationError, ClientError
 */
export async function replayRecording(
  context: Context,
  { speed = 1, idle, ...options }: DaemonOptions & { readonly speed?: number; readonly idle?: number },
  source: string,
): Promise<void> {
  const { stdin, stdout } = context;
  const timeline = await load(context, source, options, idle);
  const player = new Player(timeline, { speed, write: (text) => stdout.write(text) });
  const hasKeys = stdin.isTTY && stdout.isTerminal;
  const onKeys = (keys: Buffer) => {
    player.press(keys.toString());
  };
  if (hasKeys) {
    stdin.setRawMode(true);
    stdin.on('data', onKeys).resume();
  }
  try {
    await untilStopped(context, (signal) => {
      onAbort(signal, () => {
        player.stop();
      });
      return player.play();
    });
  } finally {
    if (hasKeys) {
      stdin.off('data', onKeys).pause();
      stdin.setRawMode(false);
    }
    if (stdout.isTerminal) await stdout.write(`${RESTORE_SCREEN}\r\n`);
  }
}

async function load(
  context: Context,
  source: string,
  options: DaemonOptions,
  idle: number | undefined,
): Promise<Timeline> {
  const text = await read(context, source, options);
  try {
    return new Timeline(parseCast(text).events, idle === undefined ? undefined : idle * 1000);
  } catch (cause) {
    throw new CommandLineError(`${source} cannot be played: ${(cause as Error).message}`, { cause });
  }
}

async function read(context: Context, source: string, options: DaemonOptions): Promise<string> {
  if (RECORDING_ID.test(source)) {
    return withDaemon(options, context, async (client) => (await downloadRecording(client, source)).toString());
  }
  try {
    return await readFile(resolve(context.cwd, source), 'utf8');
  } catch (cause) {
    const hint = `It is neither the id of a recording nor a file: \`${context.programName} recordings\` lists the recordings.`;
    throw new CommandLineError(messageOf(cause as NodeJS.ErrnoException), { hint, cause });
  }
}

/** Bytes per request: below any message limit. */
const PIECE_BYTES = 256 * 1024;

/** Reads a whole recording, as far as it is written. @throws ClientError RECORDING_NOT_FOUND */
export async function downloadRecording(client: AdapterClient, id: string): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for (let offset = 0; ;) {
    const { data, size } = await client.request('read_recording', { recording_id: id, offset, length: PIECE_BYTES });
    pieces.push(data);
    offset += data.length;
    if (data.length === 0 || offset >= size) return Buffer.concat(pieces);
  }
}
