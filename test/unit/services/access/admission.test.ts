import { beforeEach, describe, expect, it } from 'vitest';

import type { Peer } from '../../../../src/engine/platform/peer.js';
import type { KnownPeer, Peers } from '../../../../src/services/access/access.js';
import { Admission, type Place, type Refusals } from '../../../../src/services/access/admission.js';

const FOREIGN = 'it is another user';
const FULL = { code: 'RESOURCE_EXHAUSTED', details: { retry_after_ms: 5000 } };

let admission: Admission;
let refused: string[];
let ports: number;

beforeEach(() => {
  refused = [];
  ports = 0;
  const bounds = { maxConnections: 16, maxConnectionsPerPeer: 5, maxUnfinishedPerPeer: 3, handshakeTimeoutMs: 5000 };
  const peers = { identify: ({ remoteAddress: key = '' }: Peer) => Promise.resolve(known(key)) };
  const refusals = { note: (peer: string) => void refused.push(peer) };
  admission = new Admission(bounds, peers as unknown as Peers, refusals as unknown as Refusals);
});

const known = (key: string): KnownPeer => ({ key, isOwnUser: key === 'own', isUnix: false, socket: undefined });

/** A TCP connection of a peer, which the test names by its address. */
const from = (peer: string) => ({ remoteAddress: peer, remotePort: ++ports, localAddress: '::', localPort: 1 });

const connect = (peer: string) => admission.admitConnection(from(peer), 'test');

async function connectTimes(count: number, peer: string): Promise<Place[]> {
  return Promise.all(Array.from({ length: count }, () => connect(peer)));
}

describe('TCP connections', () => {
  it('that have shown no token are bounded for each peer; closed ones make room', async () => {
    const [first] = await connectTimes(3, 'a');
    await expect(connect('a')).rejects.toMatchObject({
      ...FULL,
      message: expect.stringContaining('max_unfinished_per') as string,
    });
    await expect(connect('b')).resolves.toBeDefined();
    first?.release();
    await expect(connect('a')).resolves.toBeDefined();
    expect(refused).toEqual(['a']);
  });

  it('that have shown one are bounded too', async () => {
    for (let count = 0; count < 5; count += 1) (await connect('a')).finish();
    await expect(connect('a')).rejects.toMatchObject({
      ...FULL,
      message: expect.stringContaining('max_connections_per') as string,
    });
    await expect(connect('b')).resolves.toBeDefined();
  });

  it('of all peers together that have shown none are bounded by a quarter of all', async () => {
    await connectTimes(3, 'a');
    await connect('b');
    await expect(connect('c')).rejects.toMatchObject(FULL);
    for (const { finish } of await connectTimes(20, 'own')) finish();
  });

  it('are finished by their ends, with which another socket object is the same connection', async () => {
    const connection = from('a');
    await admission.admitConnection(connection, 'test');
    expect(admission.isUnfinished({ ...connection })).toBe(true);
    admission.finish({ ...connection });
    expect(admission.isUnfinished(connection)).toBe(false);
    await connectTimes(3, 'a');
  });
});

describe('clients', () => {
  const begin = (peer: string, connection = from(peer)) =>
    admission.admitClient({ peer, whyForeign: peer === 'own' ? undefined : FOREIGN }, connection, 'test');

  it('take the slots of the connections that begin them, which serve one request still', async () => {
    const connections = [from('a'), from('a'), from('a')];
    for (const connection of connections) await admission.admitConnection(connection, 'test');
    for (const connection of connections) begin('a', connection);
    expect(connections.map((connection) => admission.isUnfinished(connection))).toEqual([true, true, true]);
    await expect(connect('a')).rejects.toMatchObject(FULL);
    expect(() => begin('a')).toThrow('that have shown no token');
  });

  it('of the daemon’s own user are bounded by the number of all', () => {
    for (let count = 0; count < 16; count += 1) begin('own');
    expect(() => begin('own')).toThrow('16 connections are open already');
    expect(() => begin('a')).toThrow('16 connections are open already');
  });

  it('of another peer leave room to the others when they have shown a token, and when they have gone', () => {
    const places = [1, 2, 3, 4, 5].map(() => {
      const place = begin('a');
      place.finish();
      return place;
    });
    expect(() => begin('a')).toThrow('5 connections of this user or address');
    begin('own');
    for (const { release } of places) release();
    for (let count = 0; count < 3; count += 1) begin('a');
  });
});
