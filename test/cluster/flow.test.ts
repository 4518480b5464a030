import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';

import { describe, expect, it } from 'vitest';

import type { TestDaemon } from '../support/daemon.js';
import { MIB, percentile, timed } from '../support/measure.js';
import { residentBytes } from '../support/processes.js';
import type { TestCluster, TestWorker } from './harness/cluster.js';
import type { WireClient } from '../support/wire.js';
import { useCluster } from './harness/use-cluster.js';

let cluster: TestCluster;
let gateway: TestDaemon;
let worker: TestWorker;

/** Bytes of a flood. */
const FLOOD = 50 * MIB;

useCluster((started) => {
  ({ cluster, gateway, worker } = started);
});

describe('a flood through a gateway', () => {
  it('comes whole and in order, does not fill the worker, and lets other sessions answer', async () => {
    await using client = await cluster.connect(gateway);
    await using other = await cluster.connect(gateway);
    const [id, quick] = await Promise.all([client.openSession(), other.openSession()]);
    const hash = createHash('sha256');
    let bytes = 0;
    client.socket.on('command_output', ({ data }: { data: string | Uint8Array }) => {
      hash.update(data);
      bytes += data.length;
      client.events.length = 0;
    });
    const before = residentBytes(worker.daemon.pid);
    const flood = client.run(`head -c ${FLOOD} /dev/zero | tr '\\0' x`, id, { stream: true });
    const times: number[] = [];
    let growth = 0;
    const over = new AbortController();
    void flood.then(() => {
      over.abort();
    });
    while (!over.signal.aborted) {
      times.push((await timed(() => other.run(':', quick))).ms);
      growth = Math.max(growth, residentBytes(worker.daemon.pid) - before);
    }
    expect(await flood).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(bytes).toBe(FLOOD);
    expect(hash.digest('hex')).toBe(createHash('sha256').update('x'.repeat(FLOOD)).digest('hex'));
    expect(client.all('output_gap')).toEqual([]);
    expect(percentile(times, 0.5)).toBeLessThan(100);
    expect(growth).toBeLessThan(80 * MIB);
    await Promise.all([
      client.request('close_session', { session_id: id }),
      other.request('close_session', { session_id: quick }),
    ]);
  });

  it('leaves out something for a client that does not read, and for no other one', async () => {
    await using client = await cluster.connect(gateway, 'admin');
    await using slow = await cluster.connect(gateway, 'admin');
    const id = await client.openSession();
    await slow.request('attach_session', { session_id: id });
    const connection = connectionOf(slow);
    connection.pause();
    let bytes = 0;
    client.socket.on('command_output', ({ data }: { data: string | Uint8Array }) => {
      bytes += data.length;
      client.events.length = 0;
    });
    const flood = await client.run(`head -c ${FLOOD} /dev/zero | tr '\\0' x`, id, { stream: true });
    expect(flood).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(bytes).toBe(FLOOD);
    expect(client.all('output_gap')).toEqual([]);
    connection.resume();
    expect(await slow.event('output_gap')).toMatchObject({ session_id: id });
    await client.request('close_session', { session_id: id });
  }, 60_000);
});

/** The connection of a client, which can be left unread. */
function connectionOf({ socket }: WireClient): Socket {
  const { transport } = socket.io.engine as unknown as { transport: { ws: { _socket: Socket } } };
  return transport.ws._socket;
}
