import { createServer as createHttpServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';

import { afterEach, describe, expect, test } from 'vitest';

import { connect, type EventPayload } from '../../../src/client/index.js';
import { TestDaemon } from '../../support/daemon.js';
import { daemonTest } from '../../support/daemon-test.js';
import { HANG_MS } from '../../support/hang.js';

/** A test that leaves the daemon as it was. */
const testShared = daemonTest();

/** What a test has started, ended after it in reverse order. */
const started: AsyncDisposable[] = [];

const startDaemon = async (...options: Parameters<typeof TestDaemon.start>): Promise<TestDaemon> => {
  const daemon = await TestDaemon.startCold(...options);
  started.push(daemon);
  return daemon;
};

/** Lets a server listen; gives its address. */
async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  started.push({ [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())) });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

afterEach(async () => {
  for (const one of started.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

describe('connecting fails with what to do', () => {
  test('when nothing listens there', async () => {
    const server = createTcpServer();
    const url = await listen(server);
    await started.pop()![Symbol.asyncDispose]();
    await expect(connect(url)).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
      message: `no daemon answers at ${url} (ECONNREFUSED): start one with "shell-adapter serve", or give the address of one that runs`,
    });
  });

  test('when something else listens there', async () => {
    const url = await listen(
      createHttpServer((_, response) => {
        response.writeHead(404).end('nothing here');
      }),
    );
    await expect(connect(url)).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
      message: `what answers at ${url} (HTTP 404) is no shell-adapter daemon: check host and port`,
    });
  });

  test('when what listens there does not answer', async () => {
    const url = await listen(createTcpServer((socket) => socket.resume()));
    await expect(connect(url, { connectTimeoutMs: 100 })).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
      message: `what listens at ${url} does not answer: see whether the daemon is stopped or overloaded`,
    });
  });

  test('when the connection is closed before it stands', async () => {
    const url = await listen(createTcpServer((socket) => socket.destroy()));
    await expect(connect(url)).rejects.toMatchObject({ code: 'CONNECTION_FAILED' });
  });

  test('when the daemon refuses', async () => {
    const daemon = await startDaemon({ settings: { socketio: { max_connections: 1 } } });
    await using first = await connect(daemon.url);
    await expect(connect(daemon.url)).rejects.toMatchObject({
      code: 'REFUSED',
      message: `the daemon at ${daemon.url} refuses this client: 1 connections are open already`,
    });
    expect(first.isConnected).toBe(true);
  });

  test.each(['', 'localhost:8087', 'ftp://localhost:8087', 'not an address'])('when %j is no address', async (url) => {
    await expect(connect(url)).rejects.toMatchObject({ code: 'CONNECTION_FAILED' });
  });
});

describe('a connection', () => {
  testShared('can be made by HTTP alone', async ({ daemon }) => {
    await using client = await connect(`${daemon.url}/any/path`, { transports: ['polling'] });
    await using session = await client.openSession();
    const seen: unknown[] = [];
    for await (const { data } of session.execute("printf 'a\\377'", { stream: true })) seen.push(data);
    expect(seen).toEqual([new Uint8Array([0x61, 0xff])]);
    expect(client.url).toBe(daemon.url);
  });

  testShared('has nothing to do with another in the same process', async ({ daemon }) => {
    await using first = await connect(daemon.url);
    const second = await connect(daemon.url);
    const events: unknown[] = [];
    first.on('command_output', (event) => events.push(event));
    await second.execute('echo x', { stream: true });
    await second.close();
    expect(events).toEqual([]);
    expect(first.isConnected).toBe(true);
    expect(await first.execute('echo y')).toMatchObject({ stdout: 'y\n' });
  });

  testShared(
    'that is closed rejects what has no answer and what comes after, and leaves nothing behind',
    async ({ daemon }) => {
      // The first one also loads what stays, such as workers.
      await (await connect(daemon.url)).close();
      const before = process.getActiveResourcesInfo();
      const client = await connect(daemon.url);
      const states: string[] = [];
      client.onConnection((state) => states.push(state));
      const session = await client.openSession();
      const command = session.execute('sleep 60', { stream: true });
      const reading = command[Symbol.asyncIterator]().next();
      const failures = Promise.allSettled([
        command,
        reading,
        client.request('wait_command', { command_id: command.id }),
      ]);
      await session.info();
      await client.close();
      await client.close();
      for (const failure of await failures) expect(failure).toMatchObject({ reason: { code: 'CLIENT_CLOSED' } });
      await expect(client.metadata()).rejects.toMatchObject({ code: 'CLIENT_CLOSED' });
      await session[Symbol.asyncDispose]();
      expect(client.isConnected).toBe(false);
      expect(states).toEqual(['closed']);
      const after = process.getActiveResourcesInfo();
      for (const kind of before) if (after.includes(kind)) after.splice(after.indexOf(kind), 1);
      expect(after).toEqual([]);
    },
  );

  testShared('to a daemon that does not answer is closed all the same', async ({ daemon }) => {
    const client = await connect(daemon.url);
    daemon.signal('SIGSTOP');
    const began = performance.now();
    await client.close();
    expect(performance.now() - began).toBeLessThan(HANG_MS);
    daemon.signal('SIGCONT');
  });
});

describe('when the daemon is killed', () => {
  test.each([
    { title: 'at once where no reconnection is wanted', options: { reconnect: false } },
    { title: 'after the time for that', options: { reconnectTimeoutMs: 200, reconnectDelayMs: 10 } },
  ])('everything rejects $title', async ({ options }) => {
    const daemon = await startDaemon();
    await using client = await connect(daemon.url, options);
    const closed = new Promise((resolve) => {
      client.onConnection((state, error) => {
        if (state === 'closed') resolve(error);
      });
    });
    const session = await client.openSession();
    const command = session.execute('echo up; sleep 60', { stream: true });
    const chunks = command[Symbol.asyncIterator]();
    await chunks.next();
    daemon.signal('SIGKILL');
    await expect(command).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    await expect(chunks.next()).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    await expect(client.metadata()).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    expect(await closed).toMatchObject({ code: 'CONNECTION_LOST' });
    await session[Symbol.asyncDispose]();
    // What the killed daemon has left is its successor's to end.
    await startDaemon({}, daemon.directory);
  });

  test('and started anew, nothing runs a second time, and its sessions have ended', async () => {
    const daemon = await startDaemon();
    await using client = await connect(daemon.url, { reconnectDelayMs: 20 });
    const session = await client.openSession();
    const closed = new Promise<EventPayload<'session_closed'>>((resolve) => session.on('session_closed', resolve));
    const states: string[] = [];
    client.onConnection((state) => states.push(state));
    const firstInstance = client.instanceId;
    expect(firstInstance).toBeTruthy();
    const output = `${daemon.directory}/runs`;
    const commands = [session, client].map((where) =>
      where.execute(`echo run >> ${output}; sleep 60`, { stream: true }),
    );
    const outcomes = Promise.allSettled(commands);
    while (!(await client.execute(`cat ${output}`)).stdout.includes('run\nrun\n'));
    daemon.signal('SIGKILL');
    await daemon.exited;
    await startDaemon({ settings: { socketio: { port: Number(new URL(daemon.url).port) } } }, daemon.directory);
    const [inSession, alone] = await outcomes;
    const restarted = {
      message: expect.stringContaining('the daemon was restarted') as string,
      details: { restarted: true },
    };
    expect(inSession).toMatchObject({ reason: { code: 'SESSION_NOT_FOUND', ...restarted } });
    expect(alone).toMatchObject({ reason: { code: 'CONNECTION_LOST', ...restarted } });
    expect(await closed).toMatchObject({ session_id: session.id, reason: 'restarted' });
    expect(states).toContain('restarted');
    expect(client.instanceId).not.toBe(firstInstance);
    expect(await client.execute(`cat ${output}`)).toMatchObject({ stdout: 'run\nrun\n' });
  });
});

test('a daemon that is stopped says so, and gives the results of what it ends', async () => {
  const daemon = await startDaemon();
  await using client = await connect(daemon.url, { reconnect: false });
  const shutdown = new Promise<EventPayload<'server_shutdown'>>((resolve) => client.on('server_shutdown', resolve));
  const session = await client.openSession();
  const command = session.execute('echo up; sleep 60', { stream: true });
  const seen: unknown[] = [];
  for await (const { data } of command) {
    seen.push(data);
    daemon.signal('SIGTERM');
  }
  expect(seen).toEqual(['up\n']);
  expect(await command).toMatchObject({ stdout: 'up\n', killed_by: 'shutdown', session_state: 'closed' });
  expect((await shutdown).grace_ms).toBeGreaterThan(0);
  expect(await daemon.exited).toBe(0);
});
