import { createInterface, type Interface } from 'node:readline';

import type { AdapterClient, ConfirmationInfo, EventPayload } from '../client.js';
import { describeQuestion, readReply } from './confirmation-text.js';
import type { ListOptions } from './confirmations.js';
import type { Context } from './context.js';
import { reportFailure } from './failure.js';
import { paint } from './style.js';
import { withDaemon } from './with-daemon.js';

/**
 * Shows what waits for a confirmation, as it comes, until a signal ends it; at a terminal, asks about each.
 * @throws CommandLineError, ConfigurationError, ClientError
 */
export async function watchConfirmations(context: Context, { json, ...options }: ListOptions): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    context.onSignal(['SIGINT', 'SIGTERM', 'SIGHUP'], () => {
      resolve();
    });
  });
  await withDaemon(options, context, async (client) => {
    const watch = json === true ? new JsonWatch(context) : new PersonWatch(context, client);
    const lost = new Promise<void>((_resolve, reject) => {
      client.onConnection((state, error) => {
        if (state === 'closed') reject(error ?? new Error('the connection has ended'));
      });
    });
    lost.catch(() => undefined);
    const known = new Set<string>();
    const take = (asked: ConfirmationInfo) => {
      if (known.has(asked.confirmation_id)) return;
      known.add(asked.confirmation_id);
      watch.required(asked);
    };
    client.on('confirmation_required', take);
    client.on('confirmation_resolved', (event) => {
      known.delete(event.confirmation_id);
      watch.resolved(event);
    });
    for (const asked of await client.listConfirmations()) take(asked);
    try {
      await Promise.race([stopped, lost, context.stdout.broken]);
    } finally {
      watch.end();
    }
  });
}

/** Who is told. */
interface Watch {
  required(asked: ConfirmationInfo): void;
  resolved(event: EventPayload<'confirmation_resolved'>): void;
  end(): void;
}

class JsonWatch implements Watch {
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

  end(): void {
    // Nothing is open.
  }

  #write(event: string, payload: object): void {
    void this.#context.stdout.write(`${JSON.stringify({ event, ...payload })}\n`);
  }
}

/** Shows one question after another, and asks when somebody is there to answer. */
class PersonWatch implements Watch {
  readonly #context: Context;
  readonly #client: AdapterClient;
  readonly #lines: Interface | undefined;
  /** Those that have not been answered; the first one is on the screen. */
  readonly #waiting: ConfirmationInfo[] = [];

  constructor(context: Context, client: AdapterClient) {
    this.#context = context;
    this.#client = client;
    if (!context.stdin.isTTY) return;
    // Without a prompt of its own: Ctrl-C stays a signal, and what was typed before a question answers nothing.
    this.#lines = createInterface({ input: context.stdin, terminal: false });
    this.#lines.on('line', (line) => {
      this.#answer(line);
    });
  }

  required(asked: ConfirmationInfo): void {
    this.#waiting.push(asked);
    if (this.#waiting.length === 1 || !this.#lines) this.#show(asked);
  }

  resolved({ confirmation_id: id, outcome, decided_by: by }: EventPayload<'confirmation_resolved'>): void {
    const place = this.#waiting.findIndex((asked) => asked.confirmation_id === id);
    this.#say(`${outcome}${by === null ? '' : ` by ${by}`}: ${id}\n`);
    if (place < 0) return;
    this.#waiting.splice(place, 1);
    if (place === 0) this.#showNext();
  }

  end(): void {
    this.#lines?.close();
  }

  #answer(line: string): void {
    const asked = this.#waiting[0];
    if (!asked?.may_decide) return;
    this.#waiting.shift();
    // What becomes of it is told by the event; the output is for whoever asked.
    this.#client
      .confirm(asked.confirmation_id, { ...readReply(line), commandSha256: asked.command_sha256 })
      .catch((error: unknown) => reportFailure(error, this.#context.stderr));
    this.#showNext();
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
    this.#say(asked.may_decide ? 'approve? [y/N] (a reason may follow) ' : 'Somebody else has to decide.\n');
  }

  #say(text: string): void {
    void this.#context.stdout.write(text);
  }
}
