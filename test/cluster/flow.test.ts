import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import type { EventPayload } from '../../src/core/protocol/results.js';
import type { TestDaemon } from '../support/daemon.js';
import { MIB, timed } from '../support/measure.js';
import { residentBytes } from '../support/processes.js';
import { rounds } from '../support/rounds.js';
import type { WireClient } from '../support/wire.js';
import type { TestCluster, TestWorker } from './harness/cluster.js';
import { useCluster } from './harness/use-cluster.js';

let cluster: TestCluster;
let gateway: TestDaemon;
let worker: TestWorker;

/** Bytes of a flood: many times the window between two nodes, and what a worker may grow by. */
const FLOOD = rounds(200, 100) * MIB;
/** Bytes of one that a client does not read: it is over before the heartbeat ends the connection. */
const SLOW_FLOOD = 50 * MIB;
/** Bytes of one before, in which the heap of the worker grows to the size that it works with. */
const FIRST = 20 * MIB;
/** What a worker that holds up a flood may grow by, in bytes. */
const GROWTH = 50 * MIB;
/** Pause between two commands meanwhile, in milliseconds: what the worker keeps of thousands would count as growth. */
const PAUSE_MS = 10;

/** A command that prints so many bytes, each part unlike the others. */
const pour = (bytes: number) => `seq 100000000 | head -c ${bytes}`;

/** The SHA-256 of what the command prints. */
const poured = (bytes: number): string =>
  execFileSync('bash', ['-c', `${pour(bytes)} | sha256sum`], { encoding: 'utf8' }).split(' ')[0] ?? '';

/** What a client has got of the output of a session; its events are not kept. */
class Output {
  readonly gaps: EventPayload<'output_gap'>[] = [];
  bytes = 0;
  /** Events whose number does not follow that of the one before. */
  breaks = 0;
  #hash = createHash('sha256');
  #nextSeq: number | undefined;

  constructor({ socket, events }: WireClient) {
    socket.on('command_output', ({ data, seq }: EventPayload<'command_output'>) => {
      this.#hash.update(data);
      this.bytes += data.length;
      if (seq !== (this.#nextSeq ?? seq)) this.breaks += 1;
      this.#nextSeq = seq + 1;
      events.length = 0;
    });
    socket.on('output_gap', (gap: EventPayload<'output_gap'>) => this.gaps.push(gap));
  }

  /** The size and SHA-256 of what has come since the last call. */
  take(): { readonly bytes: number; readonly sha256: string } {
    const taken = { bytes: this.bytes, sha256: this.#hash.digest('hex') };
    this.bytes = 0;
    this.#hash = createHash('sha256');
    return taken;
  }
}

useCluster((started) => {
  ({ cluster, gateway, worker } = started);
});

describe('a flood through a gateway', () => {
  it('comes whole and in order, does not fill the worker, and lets other sessions answer', async () => {
    await using client = await cluster.connect(gateway);
    await using other = await cluster.connect(gateway);
    const [id, quick] = await Promise.all([client.openSession(), other.openSession()]);
    const output = new Output(client);
    await client.run(pour(FIRST), id, { stream: true });
    expect(output.take()).toEqual({ bytes: FIRST, sha256: poured(FIRST) });
    const before = residentBytes(worker.daemon.pid);
    const flood = client.run(pour(FLOOD), id, { stream: true });
    const times: number[] = [];
    let growth = 0;
    const over = new AbortController();
    void flood.then(() => {
      over.abort();
    });
    while (!over.signal.aborted) {
      times.push((await timed(() => other.run(':', quick))).ms);
      growth = Math.max(growth, residentBytes(worker.daemon.pid) - before);
      await sleep(PAUSE_MS);
    }
    expect(await flood).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(output.take()).toEqual({ bytes: FLOOD, sha256: poured(FLOOD) });
    expect([output.gaps, output.breaks]).toEqual([[], 0]);
    // One that waited for the flood would be the only one.
    expect(times.length).toBeGreaterThan(4);
    expect(growth).toBeLessThan(GROWTH);
    await Promise.all([
      client.request('close_session', { session_id: id }),
      other.request('close_session', { session_id: quick }),
    ]);
  }, 60_000);

  it('leaves out something for a client that does not read, and for no other one', async () => {
    await using client = await cluster.connect(gateway, 'admin');
    await using slow = await cluster.connect(gateway, 'admin');
    const id = await client.openSession();
    await slow.request('attach_session', { session_id: id });
    const [output, left] = [new Output(client), new Output(slow)];
    const connection = connectionOf(slow);
    connection.pause();
    const flood = await client.run(pour(SLOW_FLOOD), id, { stream: true });
    expect(flood).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(output.take()).toEqual({ bytes: SLOW_FLOOD, sha256: poured(SLOW_FLOOD) });
    expect([output.gaps, output.breaks]).toEqual([[], 0]);
    connection.resume();
    const gap = await slow.until(() => left.gaps[0]);
    expect(gap).toMatchObject({ session_id: id });
    expect(gap.to_seq).toBeGreaterThan(gap.from_seq);
    expect(left.bytes).toBeLessThan(SLOW_FLOOD);
    await client.request('close_session', { session_id: id });
  }, 60_000);
});

/** The connection of a client, which can be left unread. */
function connectionOf({ socket }: WireClient): Socket {
  const { transport } = socket.io.engine as unknown as { transport: { ws: { _socket: Socket } } };
  return transport.ws._socket;
}
