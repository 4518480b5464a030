import { describe, expect } from 'vitest';

import { PROCESS_HANG_MS } from '../support/hang.js';
import { WireClient } from '../support/wire.js';
import { eventually } from '../support/measure.js';
import { sharedTest } from '../support/shared-test.js';
import { TestCluster } from './harness/cluster.js';

/** Longer than both parts of the heartbeat of a link, and shorter than the lease, in milliseconds. */
const FREEZE_MS = 5500;
/** Sessions that a test leaves do not keep its worker, and nothing waits for the end of a lease. */
const ENDING = { drain_timeout: 0.1, lease: 2 * (PROCESS_HANG_MS / 1000) };

/** A gateway, to which each test adds a worker of its own. */
const it = sharedTest(async () => {
  const cluster = new TestCluster(ENDING);
  const gateway = await cluster.startGateway();
  const addWorker = async (name: string) => {
    const worker = await cluster.startWorker(name);
    await cluster.register(gateway, worker);
    return worker;
  };
  return { cluster, gateway, addWorker, [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose]() };
});

const stdoutOf = (client: WireClient, commandId: string): string =>
  client
    .all('command_output')
    .filter((event) => event.command_id === commandId && event.stream === 'stdout')
    .map(({ data }) => String(data))
    .join('');

const numbersOf = (client: WireClient, sessionId: string): number[] =>
  client
    .all('command_output')
    .filter((event) => event.session_id === sessionId)
    .map(({ seq }) => seq);

describe('a worker that is killed', () => {
  it('is lost at once: requests fail, sessions are closed, and its ids are not found', async ({
    shared: { cluster, gateway, addWorker },
  }) => {
    const worker = await addWorker('worker-1');
    await using client = await cluster.connect(gateway);
    const id = await client.openSession({ placement: { node: 'worker-1' } });
    const running = client.run('sleep 60', id, { command_id: 'long' });
    await eventually(async () => {
      expect(await client.request('get_session', { session_id: id })).toMatchObject({ state: 'busy' });
    });
    const killedAt = performance.now();
    worker.daemon.signal('SIGKILL');
    const answer = await running;
    const tookMs = performance.now() - killedAt;
    expect(answer.error).toMatchObject({
      code: 'NODE_LOST',
      details: { node: 'worker-1', retry_safe: false, maybe_executed: true },
    });
    expect(tookMs).toBeLessThan(PROCESS_HANG_MS);
    await client.event('session_closed', ({ session_id, reason }) => session_id === id && reason === 'node_lost');
    expect(client.all('session_detached').map(({ session_id }) => session_id)).toEqual([id]);
    expect((await client.request('open_session')).error?.code).toBe('NO_CAPACITY');
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(503);
  });

  it('fails what cannot be repeated at once, and may have done it', async ({
    shared: { cluster, gateway, addWorker },
  }) => {
    const worker = await addWorker('worker-2');
    await using client = await cluster.connect(gateway);
    const id = await client.openSession({ placement: { node: 'worker-2' } });
    worker.daemon.signal('SIGSTOP');
    const closing = client.request('close_session', { session_id: id });
    worker.daemon.signal('SIGKILL');
    expect((await closing).error).toMatchObject({ code: 'NODE_LOST', details: { maybe_executed: true } });
  });
});

describe('a worker that is frozen for less than the lease', () => {
  it('runs a command once, and its output comes without a gap', async ({ shared: { cluster, gateway, addWorker } }) => {
    const worker = await addWorker('worker-3');
    await using client = await cluster.connect(gateway);
    const id = await client.openSession({ placement: { node: 'worker-3' } });
    const counter = `${worker.daemon.workspace}/runs`;
    const running = client.run(`echo run >> ${counter}; for i in $(seq 60); do echo $i; sleep 0.1; done`, id, {
      command_id: 'counted',
      stream: true,
    });
    await client.event('command_output', ({ command_id }) => command_id === 'counted');
    worker.daemon.signal('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, FREEZE_MS));
    worker.daemon.signal('SIGCONT');
    expect(await running).toMatchObject({ status: 'completed', exit_code: 0 });
    const lines = Array.from({ length: 60 }, (_, index) => `${index + 1}\n`).join('');
    await client.until(() => (stdoutOf(client, 'counted') === lines ? true : undefined));
    expect(await client.run(`wc -l < ${counter}`, id)).toMatchObject({
      stdout: expect.stringMatching(/^\s*1\n$/) as string,
    });
    expect(client.all('session_reattached')).toMatchObject([{ session_id: id, node: 'worker-3', gap: null }]);
    const numbers = numbersOf(client, id);
    expect(numbers).toEqual([...new Set(numbers)].sort((one, other) => one - other));
  });
});

describe('a worker that was started again', () => {
  it('has other ids: the old ones are not found, and the new ones are used', async ({
    shared: { cluster, gateway, addWorker },
  }) => {
    const worker = await addWorker('worker-4');
    await using client = await cluster.connect(gateway);
    const old = await client.openSession({ placement: { node: 'worker-4' } });
    const { url } = worker;
    worker.daemon.signal('SIGKILL');
    await worker.daemon.exited;
    await cluster.startWorker('worker-4', { cluster: { link_port: Number(new URL(url).port) } });
    const id = await eventually(() => client.openSession({ placement: { node: 'worker-4' } }));
    expect(id).not.toBe(old);
    expect((await client.request('get_session', { session_id: old })).error).toMatchObject({
      code: 'SESSION_NOT_FOUND',
      details: { reason: 'node_lost' },
    });
    expect(await client.run('echo new', id)).toMatchObject({ stdout: 'new\n' });
  });
});

describe('a gateway that is killed', () => {
  it('leaves sessions alive: a client goes on at another gateway', async () => {
    await using cluster = new TestCluster(ENDING);
    const { gateway, workers } = await cluster.startWith('worker-1');
    const second = await cluster.startGateway('gate-2');
    await cluster.register(second, workers[0]!);
    const { token, secret } = gateway.tokens.create({ name: 'mobile', role: 'admin', lifeMs: undefined });
    expect(token.name).toBe('mobile');
    const first = await WireClient.connect(gateway.url, ['websocket'], { token: secret });
    const id = await first.openSession();
    await first.run('export KEPT=1', id);
    gateway.signal('SIGKILL');
    await gateway.exited;
    await using admin = await cluster.connect(second, 'admin');
    expect(await admin.request('attach_session', { session_id: id })).toMatchObject({ session_id: id });
    expect(await admin.run('echo $KEPT', id)).toMatchObject({ stdout: '1\n' });
    first.socket.disconnect();
  });
});
