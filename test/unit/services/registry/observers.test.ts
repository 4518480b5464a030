import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { ReplayRing } from '../../../../src/core/replay-ring.js';
import { Observers } from '../../../../src/services/registry/observers.js';
import type { OutputEvent } from '../../../../src/services/registry/output-event.js';

const KIB = 1024;
/** Smallest rate that a client may ask for, in bytes per second. */
const RATE = 64 * KIB;

type Sent = number | [from: number, to: number] | string;

/** One observer of a session, and what it was sent: numbers of events, gaps, and names of other events. */
function setUp(ringBytes = 1024 * KIB, rate = RATE) {
  const ring = new ReplayRing<OutputEvent>(ringBytes);
  const observers = new Observers('s', ring);
  const client = { pending: 0, sent: [] as Sent[] };
  const sink = {
    id: 'client',
    send: (event: string, payload: object) => {
      if (event === 'command_output') client.sent.push((payload as { seq: number }).seq);
      else if (event !== 'output_gap') client.sent.push(event);
      else {
        const { from_seq, to_seq } = payload as { from_seq: number; to_seq: number };
        client.sent.push([from_seq, to_seq]);
      }
    },
    pendingBytes: () => client.pending,
  };
  observers.add(sink, rate, 0);
  const print = (count: number, bytes: number) => {
    for (let index = 0; index < count; index++) {
      ring.push({ command_id: 'c', session_id: 's', stream: 'stdout', offset: 0, data: '' }, bytes);
    }
    observers.noteOutput();
  };
  return { observers, sink, client, print };
}

const closed = { session_id: 's', reason: 'client', detail: '' } as const;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('an observer', () => {
  it('gets all output of a command that prints little', () => {
    const { client, print } = setUp();
    print(3, KIB);
    vi.advanceTimersByTime(20);
    print(1, KIB);
    vi.advanceTimersByTime(20);
    expect(client.sent).toEqual([0, 1, 2, 3]);
  });

  it('gets the newest output of a flood at its rate, and a gap for what is before it', () => {
    const { client, print } = setUp();
    print(10, 64 * KIB);
    vi.advanceTimersByTime(20);
    expect(client.sent).toEqual([[0, 7], 8, 9]);
    for (let tick = 0; tick < 100; tick++) {
      print(1, 64 * KIB);
      vi.advanceTimersByTime(20);
    }
    // Another 2 s at 64 KiB a second: one burst of two events.
    const events = client.sent.slice(3).filter((sent) => typeof sent === 'number');
    expect(events.length).toBeGreaterThanOrEqual(2);
    expect(events.length).toBeLessThanOrEqual(4);
  });

  it('gets the end of a flood, however long ago it could be sent something', () => {
    const { client, print } = setUp();
    for (let tick = 0; tick < 50; tick++) {
      print(4, 64 * KIB);
      vi.advanceTimersByTime(4);
    }
    print(1, 10);
    vi.advanceTimersByTime(5000);
    expect(client.sent.slice(-2)).toEqual([199, 200]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('gets output that was no longer kept as a gap', () => {
    const { client, print } = setUp(10 * KIB);
    print(30, KIB);
    vi.advanceTimersByTime(20);
    expect(client.sent).toEqual([[0, 19], 20, 21, 22, 23, 24, 25, 26, 27, 28, 29]);
  });

  it('gets nothing while its connection is full, and the newest output after that', () => {
    const { client, print } = setUp();
    client.pending = 512 * KIB;
    print(200, KIB);
    vi.advanceTimersByTime(1000);
    expect(client.sent).toEqual([]);
    client.pending = 0;
    vi.advanceTimersByTime(20);
    expect(client.sent[0]).toEqual([0, 71]);
    expect(client.sent.at(-1)).toBe(199);
  });

  it('gets other events after the output before them', () => {
    const { observers, client, print } = setUp();
    print(2, KIB);
    observers.announce('session_closed', closed);
    expect(client.sent).toEqual([0, 1, 'session_closed']);
  });

  it('gets nothing after it was removed, and no timer stays', () => {
    const { observers, sink, client, print } = setUp();
    print(1, KIB);
    expect(observers.remove(sink)).toBe(true);
    observers[Symbol.dispose]();
    vi.advanceTimersByTime(100);
    expect(client.sent).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
