import { expect, it } from 'vitest';

import { Gateway } from '../../../src/cluster/gateway.js';
import { NO_WORK } from '../../../src/cluster/own-work.js';
import type { ReceivedRequest } from '../../../src/services/cluster-port.js';

const gateway = new Gateway({
  identity: { node: 'gate', incarnation: 'aaaaaaa', version: '1', link_version: 1, instance_id: 'x' },
  ...{ role: 'gateway', work: NO_WORK, registry: undefined, isOneMachine: false },
} as never);

const route = (relayedBy: string | undefined) =>
  gateway.route({
    ...{ name: 'llm_call', request: {}, http: () => ({}) },
    caller: { principal: { id: 'agent' }, relayedBy },
  } as unknown as ReceivedRequest);

it('a request that another node has sent on is answered here: it goes no further', () => {
  expect(() => route(undefined)).toThrow(expect.objectContaining({ code: 'NO_CAPACITY' }) as Error);
  expect(route('other')).toBeUndefined();
});
