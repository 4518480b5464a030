import { setTimeout as sleep } from 'node:timers/promises';

import { WireClient } from '../support/wire.js';
import { type Counts, KILLS } from './counts.js';

/** What a worker needs. */
export interface WorkerOptions {
  readonly url: () => string;
  readonly random: () => number;
  readonly counts: Counts;
  /** Takes what should not have happened; the work goes on. */
  readonly onFault: (message: string) => void;
  /** No further work is begun when it is aborted. */
  readonly signal: AbortSignal;
}

/** Why an answer is missing or an error: the daemon or a shell was killed. Anything else is a fault. */
const KILLED =
  /disconnect|the connection ended|timeout|SESSION_NOT_FOUND|COMMAND_NOT_FOUND|SESSION_LIMIT|SHUTTING_DOWN|NO_RUNNING_COMMAND|OUTPUT_EXPIRED/i;
/** Pause after a lost connection, in milliseconds: the daemon is started again meanwhile. */
const RECONNECT_MS = 100;
/** Longest time for an answer, in milliseconds: commands end after five seconds. */
const ANSWER_MS = 20_000;

/** A shell that is killed while nothing runs may be handed a command until its end is noticed, in milliseconds. */
const NOTICE_MS = 1000;

/** A client that opens sessions, runs commands of all kinds, checks the results, and closes, or just goes. */
export class Worker {
  readonly #options: WorkerOptions;
  readonly #name: string;
  #number = 0;

  constructor(name: string, options: WorkerOptions) {
    this.#name = name;
    this.#options = options;
  }

  /** Works until the signal. */
  async run(): Promise<void> {
    const { signal, url, counts } = this.#options;
    while (!signal.aborted) {
      try {
        await using client = await WireClient.connect(url());
        await this.#work(client);
      } catch (error) {
        const { message } = error as Error;
        if (KILLED.test(message) || isConnectionError(error)) counts.add('lost connections and sessions');
        else this.#options.onFault(`${new Date().toISOString()} ${message}`);
        await sleep(RECONNECT_MS);
      }
    }
  }

  /** A stretch of work over one connection. */
  async #work(client: WireClient): Promise<void> {
    const { random, signal, counts } = this.#options;
    for (let left = 1 + Math.floor(random() * 4); left > 0 && !signal.aborted; left -= 1) {
      if (random() < 0.3) await this.#step(client, undefined);
      else {
        const session = await within(
          client.openSession({ shell: pick(random, ['bash', 'bash', 'zsh', 'sh']) }),
          'open_session',
        );
        counts.add('sessions');
        await this.#useSession(client, session);
        // Some are left behind by a client that goes.
        if (random() < 0.7) await within(client.request('close_session', { session_id: session }), 'close_session');
      }
      client.events.length = 0;
    }
  }

  async #useSession(client: WireClient, session: string): Promise<void> {
    const { random, signal } = this.#options;
    for (let steps = Math.floor(random() * 12); steps > 0 && !signal.aborted; steps -= 1)
      await this.#step(client, session);
  }

  async #step(client: WireClient, session: string | undefined): Promise<void> {
    const { random, counts } = this.#options;
    counts.add('commands');
    const step = pick(random, session === undefined ? ALONE : ALL);
    const word = `${this.#name}-${(this.#number += 1)}`;
    const title = `${step.name} ${word} in ${session ?? 'no session'}`;
    await within(step({ client, session, word, random, counts, startedAt: performance.now() }), title);
  }
}

/** Where a step works. */
interface Place {
  readonly client: WireClient;
  readonly session: string | undefined;
  /** Another one for each step. */
  readonly word: string;
  readonly random: () => number;
  readonly counts: Counts;
  /** On the clock of `performance.now`. */
  readonly startedAt: number;
}

type Step = (place: Place) => Promise<void>;
type Result = Awaited<ReturnType<WireClient['run']>>;

/** Throws where a result is not what the command prints, unless a process was killed meanwhile: it may have been one of the command's. */
function expectExact(place: Place, result: Result, stdout: string, exitCode = 0): void {
  if (result.error) throw new Error(`${result.error.code}: ${result.error.message}`);
  if (result.stdout === stdout && result.exit_code === exitCode) return;
  const isShellGone = result.session_state === 'restarted';
  if (isShellGone || place.counts.lastTimeOf(KILLS) > place.startedAt - NOTICE_MS) {
    place.counts.add('results of commands that were killed');
    return;
  }
  const { stdout: text, stderr, exit_code, warnings } = result;
  const given = JSON.stringify({ stdout: text.slice(0, 200), stderr: stderr.slice(0, 200), exit_code, warnings });
  throw new Error(`expected ${JSON.stringify(stdout.slice(0, 200))} and ${exitCode}, got ${given}`);
}

const echo: Step = async (place) => {
  expectExact(place, await place.client.run(`echo ${place.word}`, place.session), `${place.word}\n`);
};

const fails: Step = async (place) => {
  const code = 1 + Math.floor(place.random() * 100);
  expectExact(place, await place.client.run(`printf x; (exit ${code})`, place.session), 'x', code);
};

const reads: Step = async (place) => {
  expectExact(place, await place.client.run('cat', place.session, { stdin: place.word }), place.word);
};

/** Prints up to 4 MiB; as many are counted, whatever the disk keeps. */
const prints: Step = async (place) => {
  const bytes = Math.floor(place.random() * 4 * 1024 * 1024);
  const result = await place.client.run(`head -c ${bytes} /dev/zero | tr '\\0' x`, place.session);
  if (result.spool_error !== undefined) place.counts.add('outputs cut by a full disk');
  expectExact(place, { ...result, stdout: String(result.stdout_bytes) }, String(bytes));
};

const leavesProcesses: Step = async (place) => {
  const command = pick(place.random, ['sleep 1000 &', 'nohup setsid sleep 1000 >/dev/null 2>&1 &', '(sleep 1000 &);']);
  expectExact(place, await place.client.run(`${command} echo ${place.word}`, place.session), `${place.word}\n`);
};

const timesOut: Step = async (place) => {
  const result = await place.client.run('sleep 1000', place.session, { timeout_ms: 50 });
  if (result.error) throw new Error(`${result.error.code}: ${result.error.message}`);
};

const isInterrupted: Step = async (place) => {
  const command_id = place.word;
  const running = place.client.run('echo go; sleep 1000', place.session, { command_id, stream: true });
  const started = place.client.event('command_output', (event) => event.command_id === command_id);
  // Without output, as that of a shell that was killed, the result comes by itself.
  await Promise.race([running, started.catch(() => undefined)]);
  await place.client.request('signal_command', { command_id, signal: 'SIGINT' });
  const result = await running;
  if (result.error) throw new Error(`${result.error.code}: ${result.error.message}`);
};

/** Ends or replaces the shell from inside; the session must go on. */
const ruinsShell: Step = async (place) => {
  await place.client.run(pick(place.random, ['kill -9 $$', 'exec true', 'set -e; false', 'exit 3']), place.session);
  place.counts.add('shells that ended by their command');
  const result = await place.client.run(`echo ${place.word}`, place.session);
  expectExact(place, result, `${place.word}\n`);
};

const ALONE: readonly Step[] = [echo, echo, fails, reads, prints, leavesProcesses, timesOut];
const ALL: readonly Step[] = [...ALONE, echo, echo, isInterrupted, ruinsShell];

const pick = <T>(random: () => number, list: readonly T[]): T => list[Math.floor(random() * list.length)]!;

/** The transport's own words for a daemon that is not there. */
const isConnectionError = (error: unknown): boolean =>
  error instanceof Error && /websocket error|xhr poll error|ECONNREFUSED|socket hang up/i.test(error.message);

async function within<T>(promise: Promise<T>, title: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`no answer after ${ANSWER_MS} ms: ${title}`));
    }, ANSWER_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
