import { createHmac } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { parse } from 'yaml';

import { TestDaemon } from '../support/daemon.js';
import { eventually } from '../support/measure.js';
import { WireClient } from '../support/wire.js';

const SECRET = 'a-secret-of-the-webhook';

/** The body of a notification as JSON. */
interface Body {
  readonly event: string;
  readonly id: string;
  readonly command?: string;
  readonly [field: string]: unknown;
}

interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A receiver of webhooks, which answers each path with the statuses that a test sets, and 204 after them. */
class Receiver implements AsyncDisposable {
  readonly received: Received[] = [];
  /** Statuses by path; 0 hangs. */
  readonly statuses = new Map<string, number[]>();
  readonly #arrivals = new EventEmitter();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { url: path = '', headers } = request;
        const status = this.statuses.get(path)?.shift() ?? 204;
        if (status !== 0) response.writeHead(status, { location: `${this.url}/elsewhere` }).end();
        this.received.push({ path, headers, text: Buffer.concat(chunks).toString() });
        this.#arrivals.emit('request');
      });
    });
  }

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    receiver.#server.listen(0, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  of(path: string): Received[] {
    return this.received.filter((request) => request.path === path);
  }

  /** Resolves with the requests to a path when there are so many. */
  async until(path: string, number: number): Promise<Received[]> {
    while (this.of(path).length < number) await once(this.#arrivals, 'request');
    return this.of(path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }
}

const bodyOf = ({ text }: Received): Body => JSON.parse(text) as Body;

const signatureOf = ({ headers, text }: Received): string =>
  `sha256=${createHmac('sha256', SECRET)
    .update(`${String(headers['x-shell-adapter-timestamp'])}.${text}`)
    .digest('hex')}`;

let receiver: Receiver;
let daemon: TestDaemon;
let client: WireClient;

beforeAll(async () => {
  receiver = await Receiver.start();
  receiver.statuses
    .set('/unsteady', [503, 500])
    .set('/refusing', [400])
    .set('/moved', [302])
    .set('/hanging', [0, 0, 0]);
  const { url } = receiver;
  daemon = await TestDaemon.start({
    settings: {
      adapter: { memory_mb_limit: 200 },
      confirmation: { mode: 'operator', preset: 'permissive' },
      secrets: { values: ['hidden-from-everyone'] },
      notify: {
        webhooks: [
          { url: `${url}/signed`, secret: SECRET },
          { url: `${url}/unsteady`, events: ['daemon_started'] },
          { url: `${url}/refusing`, events: ['daemon_started'] },
          { url: `${url}/moved`, events: ['daemon_started'] },
          { url: `${url}/hanging`, events: ['health'], timeout: 3600 },
          { url: `${url}/slack`, format: 'slack', include_command: true, events: ['confirmation_required'] },
        ],
      },
    },
  });
  client = await WireClient.connect(daemon.url);
});

afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

describe('webhooks', () => {
  it('get signed notifications', async () => {
    const [started] = await receiver.until('/signed', 1);
    const body = bodyOf(started!);
    expect(body).toMatchObject({
      event: 'daemon_started',
      session_id: null,
      message: expect.stringContaining('started') as string,
    });
    expect(started!.headers).toMatchObject({
      'content-type': 'application/json',
      'x-shell-adapter-event': 'daemon_started',
      'x-shell-adapter-delivery': body.id,
      'x-shell-adapter-signature': signatureOf(started!),
    });
    expect(Number(started!.headers['x-shell-adapter-timestamp'])).toBeCloseTo(Date.now() / 1000, -2);
  });

  it('get a notification again after 5xx, with the same id, and not after 4xx or a redirect', async () => {
    const attempts = await receiver.until('/unsteady', 3);
    expect(new Set(attempts.map(({ headers }) => headers['x-shell-adapter-delivery'])).size).toBe(1);
    expect(attempts[0]!.headers['x-shell-adapter-signature']).toBeUndefined();
    // These two would have been retried by now, as early as the others.
    expect(receiver.of('/refusing')).toHaveLength(1);
    expect(receiver.of('/moved')).toHaveLength(1);
    expect(receiver.of('/elsewhere')).toEqual([]);
    const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
    expect(metrics).toContain('shell_adapter_notifications_total{event="daemon_started",outcome="failed"} 2');
    const log = readFileSync(join(daemon.directory, 'log'), { encoding: 'utf8', flag: 'r' });
    expect(log).toMatch(/a webhook has not got its notifications.* why="it answered with status 400"/);
    expect(log).not.toContain('/refusing');
  });

  it('are told of a command that waits for an operator: its class, and its text only where it is wanted', async () => {
    const asked = client.run('rm -rf /etc/x # <hidden-from-everyone>');
    const [, waiting] = await receiver.until('/signed', 2);
    const { command, ...body } = bodyOf(waiting!);
    expect(command).toBeUndefined();
    expect(body).toMatchObject({
      event: 'confirmation_required',
      class: expect.any(String) as string,
      command_id: expect.stringMatching(/^command_/) as string,
      details: { confirmation_id: expect.any(String) as string, requested_by: 'local' },
    });
    expect(waiting!.text).not.toContain('/etc/x');
    const [slack] = await receiver.until('/slack', 1);
    expect(JSON.parse(slack!.text)).toEqual({
      text: expect.stringMatching(
        /^\*confirmation_required\* on .*: a command of local waits for an operator .*\n```rm -rf \/etc\/x # &lt;\*\*\*&gt;```$/,
      ) as string,
    });
    await client.request('signal_command', { command_id: String(body['command_id']), signal: 'SIGTERM' });
    expect((await asked).error?.code).toBe('COMMAND_DENIED');
  });

  it('are told of exceeded limits and of sessions that are not healthy', async () => {
    const limited = await client.run('head -c 400M /dev/zero | tail -c 400M | { sleep 60; cat; } >/dev/null');
    expect(limited.killed_by).toBe('memory');
    const [, , exceeded] = await receiver.until('/signed', 3);
    expect(bodyOf(exceeded!)).toMatchObject({
      event: 'limit_exceeded',
      command_id: limited.command_id,
      details: { resource: 'memory_mb', limit: 200 },
    });
    const session = await client.openSession();
    await client.run('alias cd=false', session);
    const [, , , health] = await receiver.until('/signed', 4);
    expect(bodyOf(health!)).toMatchObject({ event: 'health', session_id: session });
    await receiver.until('/hanging', 1);
    // The receiver does not answer; commands do.
    expect((await client.run('echo served', session)).stdout).toBe('served\n');
    expect(receiver.of('/hanging')).toHaveLength(1);
  });

  it('change with the configuration, and the daemon does not wait for one that hangs', async () => {
    const file = join(daemon.directory, 'config.yaml');
    const settings = parse(readFileSync(file, 'utf8')) as { notify: { webhooks: unknown[] } };
    const webhooks = [{ url: `${receiver.url}/next`, events: ['health'] }];
    writeFileSync(file, JSON.stringify({ ...settings, notify: { webhooks } }));
    daemon.signal('SIGHUP');
    await eventually(() => {
      expect(daemon.output).toContain('was read again');
    });
    const before = receiver.of('/signed').length;
    const session = await client.openSession();
    await client.run('alias cd=false', session);
    await receiver.until('/next', 1);
    expect(receiver.of('/signed')).toHaveLength(before);
    receiver.statuses.set('/next', [0]);
    await client.run('unalias cd; alias ls=false', await client.openSession());
    await receiver.until('/next', 2);
    expect(await daemon.stop()).toBe(0);
  });
});
