import { describe, expect } from 'vitest';

import { type AdapterClient, connect, type EventName, type EventPayload } from '../../src/client/index.js';
import { QUICK, restored } from '../support/network/broken-connection.js';
import type { TestDaemon } from '../support/daemon.js';
import { FlakyProxy } from '../support/network/flaky-proxy.js';
import { sharedTest } from '../support/shared-test.js';
import { TestCluster, type TestWorker } from './harness/cluster.js';

/** Longer than a worker takes to start, so that none is given up meanwhile, in seconds. */
const LEASE = 60;
/** Sessions that a test leaves do not keep its worker. */
const ENDING = { drain_timeout: 0.1 };

/** A gateway and a worker, with a proxy in the link between them. */
class BreakableLink implements AsyncDisposable {
  readonly cluster: TestCluster;
  readonly gateway: TestDaemon;
  readonly worker: TestWorker;
  readonly proxy: FlakyProxy;

  private constructor(cluster: TestCluster, gateway: TestDaemon, worker: TestWorker, proxy: FlakyProxy) {
    this.cluster = cluster;
    this.gateway = gateway;
    this.worker = worker;
    this.proxy = proxy;
  }

  static async start(): Promise<BreakableLink> {
    const cluster = new TestCluster(ENDING);
    const [gateway, worker] = await Promise.all([
      cluster.startGateway('gate', { lease: LEASE }),
      cluster.startWorker('worker-1'),
    ]);
    const proxy = await FlakyProxy.start(worker.url);
    await cluster.register(gateway, { name: worker.name, url: proxy.url.replace('http:', 'https:') });
    return new BreakableLink(cluster, gateway, worker, proxy);
  }

  connect(url = this.gateway.url, options: { readonly reconnect?: boolean } = {}): Promise<AdapterClient> {
    return connect(url, { ...QUICK, ...options, token: this.gateway.createToken('agent', crypto.randomUUID()) });
  }

  /** Breaks the link; it stays broken. */
  breakLink(): void {
    this.proxy.refuse(true);
    this.proxy.cut();
  }

  restoreLink(): void {
    this.proxy.refuse(false);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cluster[Symbol.asyncDispose]();
    await this.proxy[Symbol.asyncDispose]();
  }
}

/** The tests whose worker goes on share a link. */
const it = sharedTest(() => BreakableLink.start());

/** The next event of this name. */
const next = <N extends EventName>(client: AdapterClient, name: N): Promise<EventPayload<N>> =>
  new Promise((resolve) => {
    const stop = client.on(name, (event) => {
      stop();
      resolve(event);
    });
  });

const NUMBERS = Array.from({ length: 20 }, (_, index) => `${index}\n`).join('');

describe('a client whose gateway loses the link to a worker', () => {
  it('keeps the session, which goes on, and misses no output', async ({ shared: link }) => {
    await using client = await link.connect();
    const session = await client.openSession();
    const command = session.execute('for i in $(seq 0 19); do echo $i; sleep 0.05; done', { stream: true });
    const [detached, reattached] = [next(client, 'session_detached'), next(client, 'session_reattached')];
    let text = '';
    const states: boolean[] = [];
    for await (const { data } of command) {
      if (text === '') {
        states.push(session.isReachable);
        link.breakLink();
        expect(await detached).toMatchObject({ session_id: session.id, node: 'worker-1' });
        states.push(session.isReachable);
        expect(session.end).toBeUndefined();
        link.restoreLink();
        await reattached;
        states.push(session.isReachable);
      }
      text += String(data);
    }
    expect(states).toEqual([true, false, true]);
    expect(text).toBe(NUMBERS);
    expect(await command).toMatchObject({ exit_code: 0, stdout: NUMBERS });
    expect(await session.execute('echo on')).toMatchObject({ stdout: 'on\n' });
    await session.close();
    expect(session.isReachable).toBe(false);
  });

  it('has the request of a detached session answered when the link is there again', async ({ shared: link }) => {
    await using client = await link.connect();
    const session = await client.openSession();
    const detached = next(client, 'session_detached');
    link.breakLink();
    await detached;
    const answers = Promise.all([session.info(), session.execute('echo late')]);
    link.restoreLink();
    expect(await answers).toMatchObject([{ session_id: session.id }, { stdout: 'late\n' }]);
  });

  it('and which loses its own connection too has the session again after both', async ({ shared: link }) => {
    await using own = await FlakyProxy.start(link.gateway.url);
    await using client = await link.connect(own.url);
    const session = await client.openSession();
    const detached = next(client, 'session_detached');
    link.breakLink();
    await detached;
    const again = restored(client);
    const connections = own.accepted;
    own.cut();
    await own.connections(connections + 1);
    expect(session.isReachable).toBe(false);
    link.restoreLink();
    await again;
    expect(session.isReachable).toBe(true);
    expect(await session.execute('echo on')).toMatchObject({ stdout: 'on\n' });
  });

  it('streams a command without a session whole', async ({ shared: link }) => {
    await using client = await link.connect();
    let text = '';
    for await (const { data } of client.execute('for i in $(seq 0 19); do echo $i; sleep 0.05; done', {
      stream: true,
    })) {
      if (text === '') link.proxy.cut();
      text += String(data);
    }
    expect(text).toBe(NUMBERS);
  });
});

describe('a request whose worker is lost before the answer', () => {
  it('is sent again to the worker that follows, if it changes nothing', async () => {
    await using link = await BreakableLink.start();
    await using client = await link.connect();
    await using once = await link.connect(link.gateway.url, { reconnect: false });
    const { daemon, url } = link.worker;
    daemon.signal('SIGSTOP');
    const asked = [client, once].map((each) => each.request('list_directory', { path: '.', node: 'worker-1' }));
    const outcomes = Promise.allSettled(asked);
    // The gateway answers these itself, after it has sent on those before.
    for (const each of [client, once]) await each.request('describe_access', {});
    daemon.signal('SIGKILL');
    await daemon.exited;
    await link.cluster.startWorker('worker-1', { cluster: { link_port: Number(new URL(url).port) } });
    expect(await outcomes).toMatchObject([
      { status: 'fulfilled', value: { entries: [] } },
      { status: 'rejected', reason: { code: 'NODE_LOST', details: { retry_safe: true } } },
    ]);
  });

  it('is not sent again if it may have been done', async ({ shared: link }) => {
    await using client = await link.connect();
    link.worker.daemon.signal('SIGSTOP');
    const writing = client.files.write('new', 'text');
    const outcome = expect(writing).rejects.toMatchObject({ code: 'NODE_LOST', details: { maybe_executed: true } });
    await client.request('describe_access', {});
    link.breakLink();
    await outcome;
    link.worker.daemon.signal('SIGCONT');
    link.restoreLink();
  });

  it('ends the session with a reason when the worker is gone', async () => {
    await using link = await BreakableLink.start();
    await using client = await link.connect();
    const session = await client.openSession();
    const closed = next(client, 'session_closed');
    link.worker.daemon.signal('SIGKILL');
    await link.worker.daemon.exited;
    const { url } = link.worker;
    await link.cluster.startWorker('worker-1', { cluster: { link_port: Number(new URL(url).port) } });
    expect(await closed).toMatchObject({ session_id: session.id, reason: 'node_lost' });
    expect(session.end).toMatchObject({ reason: 'node_lost' });
    expect(session.isReachable).toBe(false);
  });
});

it('takes all gateways of a cluster for one daemon, whose sessions outlive each of them', async () => {
  await using cluster = new TestCluster();
  const gateways = await Promise.all([cluster.startGateway('gate-1'), cluster.startGateway('gate-2')]);
  const ids = await Promise.all(
    gateways.map(async (gateway) => {
      await using client = await cluster.connect(gateway);
      return (await client.request('daemon_status')).instance_id;
    }),
  );
  expect(ids[0]).toMatch(/^[0-9a-f]{32}$/);
  expect(ids[1]).toBe(ids[0]);
});
