import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Lane, Outbox } from '../../../../src/services/registry/outbox.js';

const KIB = 1024;
const MIB = 1024 * KIB;

/** A connection, its unsent bytes, and what its transport calls when they have left. */
function connection(hasDrain = false) {
  const state = { pending: 0, drained: undefined as (() => void) | undefined, listeners: 0 };
  const onDrained = (listener: () => void) => {
    state.drained = listener;
    state.listeners += 1;
  };
  const sink = { id: 'c', send: () => undefined, pendingBytes: () => state.pending, isGone: false };
  return { state, sink: hasDrain ? { ...sink, onDrained } : sink };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('an outbox', () => {
  it('is one for each connection', () => {
    const { sink } = connection();
    expect(Outbox.of(sink)).toBe(Outbox.of(sink));
    expect(Outbox.of(sink)).not.toBe(Outbox.of(connection().sink));
  });

  it('holds from the high mark until the low one, and has stalled after 5 seconds', () => {
    const { sink, state } = connection();
    const outbox = Outbox.of(sink);
    const backlogAt = (pending: number) => {
      state.pending = pending;
      return outbox.backlog;
    };
    expect(backlogAt(MIB)).toBe('none');
    expect(backlogAt(MIB + 1)).toBe('behind');
    expect(backlogAt(300 * KIB)).toBe('behind');
    expect(backlogAt(256 * KIB)).toBe('none');
    expect(backlogAt(2 * MIB)).toBe('behind');
    vi.advanceTimersByTime(5000);
    expect(outbox.backlog).toBe('stalled');
    expect(backlogAt(0)).toBe('none');
  });

  it('does not take two backlogs for one that has lasted, although nobody asked in between', () => {
    const { sink, state } = connection();
    const outbox = Outbox.of(sink);
    state.pending = 2 * MIB;
    expect(outbox.backlog).toBe('behind');
    state.pending = 0;
    vi.advanceTimersByTime(5000);
    state.pending = 2 * MIB;
    expect(outbox.backlog).toBe('behind');
  });

  it('tells all who wait when bytes have left, with one listener of the transport', () => {
    const { sink, state } = connection(true);
    const outbox = Outbox.of(sink);
    const told: string[] = [];
    outbox.atNextLook(() => told.push('a'));
    outbox.atNextLook(() => told.push('b'));
    expect(state.listeners).toBe(1);
    state.drained?.();
    expect(told).toEqual(['a', 'b']);
    vi.advanceTimersByTime(100);
    expect(told).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('lets go on what waits for a connection that has ended, and looks at it no longer', () => {
    const { sink, state } = connection();
    const outbox = Outbox.of(sink);
    state.pending = 2 * MIB;
    expect(outbox.backlog).toBe('behind');
    const told: string[] = [];
    outbox.atNextLook(() => told.push(outbox.backlog));
    sink.isGone = true;
    vi.advanceTimersByTime(100);
    expect(told).toEqual(['none']);
    expect(vi.getTimerCount()).toBe(0);
    expect(outbox.backlog).toBe('none');
  });
});

describe('a lane', () => {
  function setUp() {
    const { sink, state } = connection();
    let value = 0;
    const sent: number[] = [];
    const lane = new Lane(sink, () => sent.push(value));
    const offer = (next: number, delayMs?: number) => {
      value = next;
      lane.offer(delayMs);
    };
    return { state, lane, sent, offer };
  }

  it('sends at once, or when it is time the newest', () => {
    const { sent, offer } = setUp();
    offer(1);
    expect(sent).toEqual([1]);
    offer(2, 100);
    offer(3);
    vi.advanceTimersByTime(99);
    expect(sent).toEqual([1]);
    vi.advanceTimersByTime(1);
    expect(sent).toEqual([1, 3]);
  });

  it('sends nothing to a client that is behind, and the newest once it reads', () => {
    const { state, sent, offer } = setUp();
    state.pending = 257 * KIB;
    offer(1);
    offer(2, 50);
    vi.advanceTimersByTime(1000);
    offer(3);
    expect(sent).toEqual([]);
    state.pending = 0;
    vi.advanceTimersByTime(20);
    expect(sent).toEqual([3]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('drops what waits when it is disposed of, and sends it when it is flushed', () => {
    const { state, lane, sent, offer } = setUp();
    state.pending = 2 * MIB;
    offer(1);
    lane[Symbol.dispose]();
    lane.flush();
    expect(sent).toEqual([]);
    offer(2);
    lane.flush();
    expect(sent).toEqual([2]);
    state.pending = 0;
    vi.advanceTimersByTime(100);
    expect(sent).toEqual([2]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
