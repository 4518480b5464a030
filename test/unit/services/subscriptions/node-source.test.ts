import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { NodeInfo } from '../../../../src/core/protocol/requests/nodes.js';
import type { EventName, EventPayload } from '../../../../src/core/protocol/results.js';
import { NodeSource, type Subscriber } from '../../../../src/services/subscription-sources.js';

const info = (node: string, sessions: number): NodeInfo => ({
  node,
  role: 'worker',
  state: 'live',
  problem: null,
  url: `https://${node}:8088`,
  version: '1.0.0',
  instance_id: 'i',
  labels: {},
  sessions,
  capacity: 256,
  seen_at: null,
});

/** A client, and what it makes of the events. */
class Client {
  readonly events: EventPayload<'nodes_changed'>[] = [];
  known = new Map<string, NodeInfo>();

  readonly subscriber: Subscriber = {
    principal: { id: 'token', name: 'token', role: 'operator', isLocalPeer: false },
    sink: {
      id: 'client',
      send: (_name: EventName, payload: unknown) => {
        const event = payload as EventPayload<'nodes_changed'>;
        this.events.push(event);
        if (event.complete) this.known = new Map();
        for (const one of event.nodes) this.known.set(one.node, one);
        for (const node of event.removed) this.known.delete(node);
      },
      pendingBytes: () => 0,
    },
  };
}

type Step = { readonly node: string; readonly sessions: number } | { readonly remove: string } | 'feed' | 'look';
const names = fc.constantFrom('a', 'b', 'c');
const step = fc.oneof(
  fc.record({ node: names, sessions: fc.nat(2) }),
  fc.record({ remove: names }),
  fc.constantFrom('feed' as const, 'look' as const),
);

function takeStep(next: Step, listed: Map<string, NodeInfo>, act: Readonly<Record<'feed' | 'look', () => void>>): void {
  if (typeof next === 'string') act[next]();
  else if ('remove' in next) listed.delete(next.remove);
  else listed.set(next.node, info(next.node, next.sessions));
}

describe('the nodes of a subscriber', () => {
  it('are in the end those that are listed, whatever came, changed and went between two events', () => {
    fc.assert(
      fc.property(fc.array<Step>(step, { maxLength: 60 }), (steps) => {
        const listed = new Map<string, NodeInfo>();
        const source = new NodeSource({ list: () => ({ nodes: [...listed.values()] }) } as never);
        const client = new Client();
        const feed = source.feed(client.subscriber);
        const look = () => {
          source.look();
        };
        const tick = () => {
          look();
          void feed();
        };
        for (const next of steps) takeStep(next, listed, { look, feed: tick });
        tick();
        const sent = client.events.length;
        tick();
        expect(client.events).toHaveLength(sent);
        expect(client.known).toEqual(listed);
        expect(client.events.map(({ complete }) => complete === true).lastIndexOf(true)).toBe(0);
      }),
    );
  });

  it('come all at once to one that subscribes later, and only with what has changed to the others', () => {
    const listed = [info('a', 0), info('b', 0)];
    const source = new NodeSource({ list: () => ({ nodes: listed }) } as never);
    const [early, late] = [new Client(), new Client()];
    const feedEarly = source.feed(early.subscriber);
    source.look();
    void feedEarly();
    listed[1] = info('b', 1);
    const feedLate = source.feed(late.subscriber);
    source.look();
    void feedEarly();
    void feedLate();
    expect(early.events.at(-1)).toEqual({ nodes: [info('b', 1)], removed: [] });
    // One that is there is seen all the time; of one that is away it is told when that was.
    listed[0] = { ...info('a', 0), seen_at: '2026-01-01T00:00:00.000Z' };
    source.look();
    void feedEarly();
    expect(early.events).toHaveLength(2);
    listed[0] = { ...listed[0], state: 'suspect' };
    source.look();
    void feedEarly();
    expect(early.events.at(-1)).toEqual({ nodes: [listed[0]], removed: [] });
    expect(late.events).toEqual([{ nodes: [info('b', 1), info('a', 0)], removed: [], complete: true }]);
  });
});
