import { createInterface, type Interface } from 'node:readline';

import type { AdapterClient, ConfirmationInfo, EventPayload } from '../../client/index.js';
import { describeQuestion, readReply } from './confirmation-text.js';
import type { ListOptions } from './confirmations.js';
import type { Context } from '../console/context.js';
import { commandLineFor } from '../console/command-line.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { reportFailure } from '../console/failure.js';
import { paint } from '../console/style.js';
import { withDaemon } from '../connect/with-daemon.js';

/**
 * Shows what waits for a confirmation, as it comes, until a signal ends it; at a terminal, asks about each, until its input
 * ends.
 * @throws CommandLineError, ConfigurationError, ClientError
 */
export async function watchConfirmations(context: Context, { json, ...options }: ListOptions): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    context.onSignal(['SIGINT', 'SIGTERM', 'SIGHUP'], () => {
      resolve();
    });
  });
  await withDaemon(options, context, async (client) => {
    await introduce(context, client, options);
    const watch = json === true ? new JsonWatch(context) : new InteractiveWatch(context, client);
    try {
      await Promise.race([follow(client, watch), stopped, watch.closed, context.stdout.broken]);
    } finally {
      watch.end();
    }
  });
}

/** Says what is watched, and what this client cannot see or decide without a token. */
async function introduce(context: Context, client: AdapterClient, options: DaemonOptions): Promise<void> {
  const { caller, confirmed_by: confirmedBy } = await client.request('daemon_status', {});
  const say = (text: string) => context.stderr.write(`shell-adapter: ${text}\n`);
  await say(`watching ${client.url} as ${caller.name} (${caller.role}) until Ctrl-C`);
  if (confirmedBy.length === 0) await say('this daemon asks for no confirmations: confirmation.mode is off');
  const isOperator = caller.has_token && (caller.role === 'operator' || caller.role === 'admin');
  if (!confirmedBy.includes('operator') || isOperator) return;
  const config = options.config === undefined ? {} : { config: options.config };
  await say('commands here are confirmed by an operator, which this client is not: it can decide nothing of that');
  await context.stderr.write(
    `Make a token, and give it by SHELL_ADAPTER_TOKEN: ${commandLineFor(context, config)('token create --role operator --name NAME')}\n`,
  );
}

/** Tells a watch what comes and goes, also while the connection is away. Rejects when that does not come back. */
async function follow(client: AdapterClient, watch: Watch): Promise<never> {
  const known = new Set<string>();
  const take = (asked: ConfirmationInfo) => {
    if (known.has(asked.confirmation_id)) return;
    known.add(asked.confirmation_id);
    watch.required(asked);
  };
  client.on('confirmation_required', take);
  client.on('confirmation_resolved', (event) => {
    if (known.delete(event.confirmation_id)) watch.resolved(event);
  });
  const catchUp = async () => {
    const waiting = await client.listConfirmations();
    const ids = new Set(waiting.map(({ confirmation_id: id }) => id));
    for (const id of known) {
      if (ids.has(id)) continue;
      known.delete(id);
      watch.forgotten(id);
    }
    waiting.forEach(take);
  };
  const lost = new Promise<never>((_resolve, reject) => {
    client.onConnection((state, error) => {
      if (state === 'lost') return;
      if (state === 'closed') reject(error ?? new Error('the connection has ended'));
      // What fails here is the connection, of which `closed` tells.
      else catchUp().catch(() => undefined);
    });
  });
  lost.catch(() => undefined);
  await catchUp();
  return lost;
}

/** Who is told. */
interface Watch {
  /** Resolves when whoever watches has gone. */
  readonly closed: Promise<void>;
  required(asked: ConfirmationInfo): void;
  resolved(event: EventPayload<'confirmation_resolved'>): void;
  /** It waits no longer: what has become of it is not known. */
  forgotten(id: string): void;
  end(): void;
}

class JsonWatch implements Watch {
  readonly closed = new Promise<void>(() => undefined);
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  required(asked: ConfirmationInfo): void {
    this.#write('confirmation_required', asked);
  }

  resolved(event: EventPayload<'confirmation_resolved'>): void {
    this.#write('confirmation_resolved', event);
  }

  forgotten(): void {
    // Only what the daemon has said is passed on.
  }

  end(): void {
    // Nothing is open.
  }

  #write(event: string, payload: object): void {
    void this.#context.stdout.write(`${JSON.stringify({ event, ...payload })}\n`);
  }
}

/** Pause before the next question, in milliseconds: a line that comes before it was not an answer to it. */
const NEXT_MS = 200;

/** Shows one question after another, and asks when somebody is there to answer. */
class InteractiveWatch implements Watch {
  readonly closed: Promise<void>;
  readonly #context: Context;
  readonly #client: AdapterClient;
  readonly #lines: Interface | undefined;
  /** Those that have not been answered; the first one is on the screen. */
  readonly #waiting: ConfirmationInfo[] = [];
  /**
   * What a line that comes now is: the answer to what is on the screen; nothing, because it came together with the last
   * answer; or perhaps begun for another question, which has gone meanwhile.
   */
  #line: 'answer' | 'early' | 'begun' = 'answer';

  constructor(context: Context, client: AdapterClient) {
    this.#context = context;
    this.#client = client;
    // Without a prompt of its own: Ctrl-C stays a signal, and what was typed before a question answers nothing.
    const lines = context.stdin.isTTY ? createInterface({ input: context.stdin, terminal: false }) : undefined;
    this.#lines = lines;
    this.closed = new Promise((resolve) => {
      lines?.once('close', resolve);
    });
    lines?.on('line', (line) => {
      this.#take(line);
    });
  }

  required(asked: ConfirmationInfo): void {
    this.#waiting.push(asked);
    if ((this.#waiting.length === 1 && this.#line !== 'early') || !this.#lines) this.#show(asked);
  }

  resolved({ confirmation_id: id, outcome, decided_by: by }: EventPayload<'confirmation_resolved'>): void {
    this.#leave(id, `${outcome}${by === null ? '' : ` by ${by}`}: ${id}\n`);
  }

  forgotten(id: string): void {
    this.#leave(id, `no longer there: ${id}\n`);
  }

  end(): void {
    this.#lines?.close();
  }

  #leave(id: string, what: string): void {
    const place = this.#waiting.findIndex((asked) => asked.confirmation_id === id);
    this.#say(what);
    if (place < 0) return;
    const [asked] = this.#waiting.splice(place, 1);
    // Another one is on the screen, or none.
    if (place > 0 || this.#line === 'early') return;
    if (asked?.may_decide) this.#line = 'begun';
    this.#showNext();
  }

  #take(line: string): void {
    if (this.#line === 'answer') this.#answer(line);
    else if (this.#line === 'begun') {
      this.#line = 'answer';
      if (this.#waiting[0]?.may_decide) this.#say(ASK);
    }
  }

  #answer(line: string): void {
    const asked = this.#waiting[0];
    if (!asked?.may_decide) return;
    this.#waiting.shift();
    // What becomes of it is told by the event; the output is for whoever asked.
    this.#client
      .confirm(asked.confirmation_id, { ...readReply(line), commandSha256: asked.command_sha256 })
      .catch((error: unknown) => reportFailure(error, this.#context.stderr));
    this.#line = 'early';
    setTimeout(() => {
      this.#line = 'answer';
      this.#showNext();
    }, NEXT_MS).unref();
  }

  #showNext(): void {
    const [next] = this.#waiting;
    if (next && this.#lines) this.#show(next);
  }

  #show(asked: ConfirmationInfo): void {
    const { stdout } = this.#context;
    const [head = '', ...rest] = describeQuestion(asked, Date.now());
    this.#say(['', paint(stdout, 'bold', head), ...rest, ''].join('\n'));
    if (!this.#lines) return;
    if (!asked.may_decide) this.#say('Somebody else has to decide.\n');
    else this.#say(this.#line === 'begun' ? ASK_FOR_EMPTY_LINE : ASK);
  }

  #say(text: string): void {
    void this.#context.stdout.write(text);
  }
}

const ASK = 'approve? [y/N] (a reason may follow) ';
const ASK_FOR_EMPTY_LINE = 'Press Enter first: what you may have begun to type was for another question. ';
