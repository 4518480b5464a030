import { createInterface, type Interface } from 'node:readline';

import type { AdapterClient, ConfirmationInfo, EventPayload } from '../../client/index.js';
import { describeQuestion, readReply } from './confirmations.js';
import { commandLineFor, type Context, untilStopped } from '../console/context.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { reportFailure } from '../console/failure.js';
import { paint } from '../console/style.js';
import type { JsonOption } from '../console/subcommand.js';
import { untilClosed, withDaemon } from '../connect/with-daemon.js';

/**
 * Shows pending confirmations as they arrive, until a signal ends it. On a terminal, asks about each, until EOF on
 * standard input.
 * @throws CommandLineError, ConfigurationError, ClientError
 */
export async function watchConfirmations(context: Context, options: DaemonOptions & JsonOption): Promise<void> {
  await untilStopped(context, (_signal, stopped) =>
    withDaemon(options, context, async (client) => {
      await introduce(context, client, options);
      const watch = options.json === true ? jsonWatch(context) : new InteractiveWatch(context, client);
      try {
        await Promise.race([follow(client, watch), stopped, watch.closed]);
      } finally {
        watch.end();
      }
    }),
  );
}

/** Prints what is watched, and what this client cannot see or decide without a token. */
async function introduce(context: Context, client: AdapterClient, options: DaemonOptions): Promise<void> {
  const { caller, confirmed_by: confirmedBy } = await client.request('daemon_status', {});
  const say = (text: string) => context.stderr.write(`shell-adapter: ${text}\n`);
  await say(`watching ${client.url} as ${caller.name} (${caller.role}) until Ctrl-C`);
  if (confirmedBy.length === 0) await say('this daemon asks for no confirmations: confirmation.mode is off');
  const isOperator = caller.has_token && (caller.role === 'operator' || caller.role === 'admin');
  if (!confirmedBy.includes('operator') || isOperator) return;
  await say('commands here are confirmed by an operator, which this client is not: it can decide nothing of that');
  await context.stderr.write(
    `Make a token, and give it by SHELL_ADAPTER_TOKEN: ${commandLineFor(context, { config: options.config })('token create --role operator --name NAME')}\n`,
  );
}

/**
 * Reports new and resolved confirmations to a watch, across reconnections. Rejects when the connection is closed
 * permanently.
 */
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
  const closed = untilClosed(client);
  client.onConnection((state) => {
    // This fails only when the connection does, which `closed` reports.
    if (state === 'connected' || state === 'restarted') catchUp().catch(() => undefined);
  });
  await catchUp();
  return closed;
}

/** Receiver of the reports. */
interface Watch {
  /** Resolves when the input of the watch has ended. */
  readonly closed: Promise<void>;
  required(asked: ConfirmationInfo): void;
  resolved(event: EventPayload<'confirmation_resolved'>): void;
  /** The confirmation is no longer pending; its outcome is unknown. */
  forgotten(id: string): void;
  end(): void;
}

function jsonWatch({ stdout }: Context): Watch {
  const write = (event: string) => (payload: object) => {
    void stdout.write(`${JSON.stringify({ event, ...payload })}\n`);
  };
  return {
    closed: new Promise(() => undefined),
    required: write('confirmation_required'),
    resolved: write('confirmation_resolved'),
    // Only events of the daemon are printed.
    forgotten: () => undefined,
    end: () => undefined,
  };
}

/** Pause before the next question, in milliseconds: a line within it was typed before the question was shown. */
const NEXT_MS = 200;

/** Shows one question at a time; asks for an answer if standard input is a terminal. */
class InteractiveWatch implements Watch {
  readonly closed: Promise<void>;
  readonly #context: Context;
  readonly #client: AdapterClient;
  readonly #lines: Interface | undefined;
  /** The unanswered questions; the first one is on the screen. */
  readonly #waiting: ConfirmationInfo[] = [];
  /**
   * Meaning of the next line: the answer to the question on the screen; nothing, because it arrived together with the
   * last answer; or possibly an answer to an earlier question that has been resolved since.
   */
  #line: 'answer' | 'early' | 'begun' = 'answer';

  constructor(context: Context, client: AdapterClient) {
    this.#context = context;
    this.#client = client;
    // Not a terminal interface of readline: Ctrl-C stays a signal, and text typed before a question is not an answer.
    const lines = context.stdin.isTTY ? createInterface({ input: context.stdin, terminal: false }) : undefined;
    this.#lines = lines;
    this.closed = new Promise((resolve) => {
      lines?.once('close', resolve);
    });
    lines?.on('line', (line) => {
      this.#onLine(line);
    });
  }

  required(asked: ConfirmationInfo): void {
    this.#waiting.push(asked);
    if ((this.#waiting.length === 1 && this.#line !== 'early') || !this.#lines) this.#show(asked);
  }

  resolved({ confirmation_id: id, outcome, decided_by: by }: EventPayload<'confirmation_resolved'>): void {
    this.#remove(id, `${outcome}${by === null ? '' : ` by ${by}`}: ${id}\n`);
  }

  forgotten(id: string): void {
    this.#remove(id, `no longer there: ${id}\n`);
  }

  end(): void {
    this.#lines?.close();
  }

  #remove(id: string, what: string): void {
    const place = this.#waiting.findIndex((asked) => asked.confirmation_id === id);
    this.#print(what);
    if (place < 0) return;
    const [asked] = this.#waiting.splice(place, 1);
    // The screen shows another question, or none.
    if (place > 0 || this.#line === 'early') return;
    if (asked?.may_decide) this.#line = 'begun';
    this.#showNext();
  }

  #onLine(line: string): void {
    if (this.#line === 'answer') this.#answer(line);
    else if (this.#line === 'begun') {
      this.#line = 'answer';
      if (this.#waiting[0]?.may_decide) this.#print(ASK);
    }
  }

  #answer(line: string): void {
    const asked = this.#waiting[0];
    if (!asked?.may_decide) return;
    this.#waiting.shift();
    // The event reports the outcome; the output goes to the client that sent the request.
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
    this.#print(['', paint(stdout, 'bold', head), ...rest, ''].join('\n'));
    if (!this.#lines) return;
    if (!asked.may_decide) this.#print('This client cannot decide it.\n');
    else this.#print(this.#line === 'begun' ? ASK_FOR_EMPTY_LINE : ASK);
  }

  #print(text: string): void {
    void this.#context.stdout.write(text);
  }
}

const ASK = 'approve? [y/N] (a reason may follow) ';
const ASK_FOR_EMPTY_LINE = 'Press Enter first: what you may have begun to type was for another question. ';
