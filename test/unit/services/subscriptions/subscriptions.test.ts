import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { Principal } from '../../../../src/core/principal.js';
import type { Topic } from '../../../../src/core/protocol/requests/subscriptions.js';
import type { EventName, EventPayload } from '../../../../src/core/protocol/results.js';
import type { Caller, EventSink } from '../../../../src/services/registry/caller.js';
import type { SessionRecord, SessionRegistry } from '../../../../src/services/registry/session-registry.js';
import type { SessionDescriptions } from '../../../../src/services/sessions/session-description.js';
import { SessionSource, type Source } from '../../../../src/services/subscription-sources.js';
import { Subscriptions } from '../../../../src/services/subscriptions.js';

const TICK_MS = 1000;
const SILENT = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Sessions with a value each, in place of all that a real one has. */
class Sessions {
  readonly open = new Map<string, SessionRecord & { value: number }>();
  looks = 0;
  readonly source: SessionSource;

  constructor() {
    const registry = {
      all: () => {
        this.looks += 1;
        return [...this.open.values()];
      },
      find: (id: string) => this.open.get(id),
      endOf: () => ({ reason: 'client', detail: 'closed' }),
    };
    const descriptions = {
      stampOf: ({ value }: { value: number }) => [value],
      describe: ({ id, value }: { id: string; value: number }) => ({ session_id: id, label: String(value) }),
    };
    this.source = new SessionSource(
      registry as unknown as SessionRegistry,
      descriptions as unknown as SessionDescriptions,
    );
  }

  set(id: string, value: number, owner = 'token_mine'): void {
    const known = this.open.get(id);
    if (known) known.value = value;
    else this.open.set(id, { id, value, owner: { id: owner } } as unknown as SessionRecord & { value: number });
  }
}

const NOTHING: Source = { feed: () => () => undefined };

function subscriptionsTo(sessions: SessionSource): Subscriptions {
  const sources: Record<Topic, Source> = {
    sessions,
    commands: NOTHING,
    confirmations: NOTHING,
    llm: NOTHING,
    host: NOTHING,
    audit: NOTHING,
    nodes: NOTHING,
  };
  return new Subscriptions(sources, true, false, SILENT);
}

/** A client with a connection that may be slow, and what it makes of the events. */
class Client {
  readonly events: EventPayload<'sessions_changed'>[] = [];
  readonly known = new Map<string, string>();
  pending = 0;
  readonly caller: Caller & { readonly sink: EventSink };

  constructor(role: Principal['role'] = 'viewer') {
    const principal = { id: 'token_mine', name: 'mine', role, isLocalPeer: false };
    const send = (_name: EventName, payload: unknown) => {
      const event = payload as EventPayload<'sessions_changed'>;
      this.events.push(event);
      for (const { session_id: id, label } of event.sessions) this.known.set(id, String(label));
      for (const { session_id: id } of event.closed) this.known.delete(id);
    };
    this.caller = { principal, sink: { id: role, send, pendingBytes: () => this.pending } };
  }
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

type Step = { readonly id: string; readonly value: number } | { readonly close: string } | 'tick' | 'slow' | 'fast';
const ids = fc.constantFrom('a', 'b', 'c');
const step = fc.oneof(
  fc.record({ id: ids, value: fc.nat(3) }),
  fc.record({ close: ids }),
  fc.constantFrom('tick' as const, 'slow' as const, 'fast' as const),
);

describe('a subscription', () => {
  it('sends at most one event a tick, none over a slow connection, and in the end the newest state', () => {
    fc.assert(
      fc.property(fc.array<Step>(step, { maxLength: 60 }), (steps) => {
        const [sessions, client] = [new Sessions(), new Client()];
        using subscriptions = subscriptionsTo(sessions.source);
        subscriptions.subscribe({ topics: ['sessions'], interval_ms: TICK_MS }, client.caller);
        // No id comes twice.
        let closings = 0;
        const tick = () => {
          const before = client.events.length;
          vi.advanceTimersByTime(TICK_MS);
          // The first tick comes at once.
          expect(client.events.length - before).toBeLessThanOrEqual(before === 0 ? 2 : 1);
          if (client.pending > 0) expect(client.events).toHaveLength(before);
        };
        for (const next of steps) {
          if (next === 'tick') tick();
          else if (next === 'slow') client.pending = 1024 * 1024;
          else if (next === 'fast') client.pending = 0;
          else if ('close' in next) {
            for (const id of sessions.open.keys()) if (id.startsWith(next.close)) sessions.open.delete(id);
            closings += 1;
          } else {
            const known = [...sessions.open.keys()].find((id) => id.startsWith(next.id));
            sessions.set(known ?? `${next.id}${closings}`, next.value);
          }
        }
        client.pending = 0;
        tick();
        vi.advanceTimersByTime(TICK_MS);
        const expected = new Map([...sessions.open].map(([id, { value }]) => [id, String(value)]));
        expect(client.known).toEqual(expected);
        expect(client.events[0]?.complete).toBe(true);
        expect(client.events.slice(1).every(({ complete }) => complete === undefined)).toBe(true);
        const count = client.events.length;
        vi.advanceTimersByTime(10 * TICK_MS);
        expect(client.events).toHaveLength(count);
      }),
    );
  });

  it('ends lists at 1000 entries, with the newest', () => {
    const [sessions, client] = [new Sessions(), new Client()];
    using subscriptions = subscriptionsTo(sessions.source);
    for (let count = 0; count < 1500; count += 1) sessions.set(`s${count}`, 1);
    subscriptions.subscribe({ topics: ['sessions'] }, client.caller);
    vi.advanceTimersByTime(1);
    expect(client.events[0]).toMatchObject({ complete: true, truncated: true });
    expect(client.events[0]?.sessions).toHaveLength(1000);
    expect(client.known.has('s1499')).toBe(true);
  });

  it('shares a look with others, and costs nothing when the last one has gone', () => {
    const [sessions, viewer, agent] = [new Sessions(), new Client('viewer'), new Client('agent')];
    using subscriptions = subscriptionsTo(sessions.source);
    sessions.set('other', 1, 'token_other');
    for (const { caller } of [viewer, agent])
      subscriptions.subscribe({ topics: ['sessions'], interval_ms: TICK_MS }, caller);
    vi.advanceTimersByTime(10 * TICK_MS);
    expect(sessions.looks).toBeLessThanOrEqual(12);
    expect([viewer.known.size, agent.known.size]).toEqual([1, 0]);
    subscriptions.detach(viewer.caller.sink);
    subscriptions.subscribe({ topics: [] }, agent.caller);
    const { looks } = sessions;
    vi.advanceTimersByTime(10 * TICK_MS);
    expect(sessions.looks).toBe(looks);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('goes on after a topic that fails', () => {
    const sessions = new Sessions();
    const client = new Client();
    const failing: Source = {
      feed: () => () => {
        throw new Error('no');
      },
    };
    const sources = { sessions: sessions.source, commands: failing, confirmations: NOTHING, llm: NOTHING };
    const all = { ...sources, host: NOTHING, audit: NOTHING, nodes: NOTHING };
    using subscriptions = new Subscriptions(all, true, false, SILENT);
    subscriptions.subscribe({ topics: ['commands', 'sessions'] }, client.caller);
    vi.advanceTimersByTime(1);
    expect(client.events).toHaveLength(1);
  });
});
