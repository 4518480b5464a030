import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Command } from '../../../../src/engine/command/command.js';
import { SpoolBudget } from '../../../../src/engine/output/spool.js';
import { Observers } from '../../../../src/services/registry/output-channel.js';

const KIB = 1024;
/** Smallest rate that a client may ask for, in bytes per second. */
const RATE = 64 * KIB;

type Sent = number | [from: number, to: number] | string;

const SPEC = { id: 'c', command: '', timeoutMs: 1000, tty: false, limits: { maxSize: 9, beginSize: 3, endSize: 6 } };

/** One observer of a session, and what it was sent: numbers of events, gaps, and names of other events. */
function setUp(rate = RATE) {
  const observers = new Observers('s');
  const command = new Command(SPEC, { spoolDirectory: '/nonexistent', budget: new SpoolBudget(0) });
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
  observers.add(sink, rate);
  let printed = 0;
  /** Output in turn on both streams, so that it is not joined. */
  const print = (count: number, bytes: number) => {
    for (let index = 0; index < count; index += 1, printed += 1) {
      observers.take(command, printed % 2 === 0 ? 'stdout' : 'stderr', { offset: 0, data: 'x'.repeat(bytes) });
    }
  };
  return { observers, command, sink, client, print };
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
    for (let tick = 0; tick < 150; tick++) {
      print(1, 64 * KIB);
      vi.advanceTimersByTime(20);
    }
    // Another 3 s at 64 KiB a second: one burst of two events, as two need 2 s.
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
    const { client, print } = setUp(1024 * 1024 * KIB);
    print(30, 64 * KIB);
    vi.advanceTimersByTime(20);
    expect(client.sent).toEqual([[0, 14], ...Array.from({ length: 15 }, (_, index) => 15 + index)]);
  });

  it('gets small pieces joined', () => {
    const { observers, command, client } = setUp();
    for (let offset = 0; offset < 100; offset += 1) observers.take(command, 'stdout', { offset, data: 'x' });
    vi.advanceTimersByTime(20);
    expect(client.sent).toEqual([0]);
  });

  it('gets nothing while its connection is full, and the newest output after that', () => {
    const { client, print } = setUp();
    client.pending = 512 * KIB;
    print(200, KIB);
    vi.advanceTimersByTime(1000);
    expect(client.sent).toEqual([]);
    client.pending = 0;
    vi.advanceTimersByTime(20);
    expect(client.sent[0]).toEqual([0, 92]);
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
