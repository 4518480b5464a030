import { describe, expect, it } from 'vitest';

import { addressOf } from '../../../../src/core/cluster/address.js';
import { REQUEST_FACTS } from '../../../../src/core/protocol/request-facts.js';
import type { RequestEntry } from '../../../../src/core/protocol/define-requests.js';
import { type RequestName, requests } from '../../../../src/core/protocol/requests.js';

const names = Object.keys(requests) as RequestName[];
const NODE = 'worker-1-abcdefg';
const SESSION = `session_${NODE}.${'x'.repeat(22)}`;
const COMMAND = `command_${NODE}.${'x'.repeat(22)}`;
/** Of another node. */
const OTHER = `command_worker-2-abcdefg.${'x'.repeat(22)}`;
const shapeOf = (name: RequestName): Readonly<Record<string, unknown>> => requests[name].input.shape;

describe('the routing of requests', () => {
  it('is known without schemas as it is defined', () => {
    const defined = names.map((name) => {
      const { role, recorded, route, repeat, isLong }: RequestEntry = requests[name];
      return [name, { role, recorded, route, repeat, isLong }];
    });
    expect(Object.entries(REQUEST_FACTS)).toEqual(defined);
  });

  it.each(names.filter((name) => 'session_id' in shapeOf(name)))('sends %s to the node of its session', (name) => {
    if (requests[name].route === 'machine') return;
    expect(addressOf(name, { session_id: SESSION })).toEqual({ to: 'node', node: NODE, sessionId: SESSION });
  });

  it.each(names)('finds what %s goes by in its fields', (name) => {
    const { route }: RequestEntry = requests[name];
    const fields = Object.keys(shapeOf(name));
    if (route === 'session') expect(fields).toContain('session_id');
    if (typeof route === 'object') expect(fields).toContain(route.object);
    const takesNode = typeof route === 'object' ? 'otherwise' in route : ['workspace', 'machine'].includes(route);
    expect(fields.includes('node') && route !== 'here').toBe(takesNode);
  });

  it.each(names.filter((name) => requests[name].recorded === 'refusals'))(
    'lets %s, which only looks, be sent again',
    (name) => {
      expect(requests[name].repeat).toBe('safe');
    },
  );

  it.each([
    ['wait_command', { command_id: COMMAND }, { to: 'node', node: NODE }],
    ['wait_command', { command_id: 'build-1' }, { to: 'owner', id: 'build-1' }],
    ['wait_command', { session_id: SESSION, command_id: 'build-1' }, { to: 'node', node: NODE, sessionId: SESSION }],
    ['read_output', { session_id: 'session_x', command_id: 'build-1' }, { to: 'here' }],
    ['search_output', { session_id: SESSION, command_id: OTHER }, { to: 'node', node: NODE, sessionId: SESSION }],
    ['signal_command', { session_id: SESSION, command_id: 'build-1' }, { to: 'node', node: NODE, sessionId: SESSION }],
    ['get_session', { session_id: 'session_x' }, { to: 'here' }],
    ['open_session', {}, { to: 'place' }],
    ['read_file', { path: 'a' }, { to: 'only_worker' }],
    ['read_file', { path: 'a', node: 'w' }, { to: 'named', name: 'w' }],
    ['diff_workspace', {}, { to: 'only_worker' }],
    ['read_audit', { session_id: SESSION }, { to: 'machine' }],
    ['list_sessions', {}, { to: 'all' }],
    ['list_tokens', {}, { to: 'here' }],
  ] as const)('sends %s %j to %j', (name, request, address) => {
    expect(addressOf(name, request)).toEqual(address);
  });
});
