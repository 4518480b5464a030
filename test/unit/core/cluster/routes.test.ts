import { describe, expect, it } from 'vitest';

import { addressOf } from '../../../../src/core/cluster/address.js';
import { ROUTES, takesNode } from '../../../../src/core/cluster/routes.js';
import { RECORDED } from '../../../../src/core/audit-requests.js';
import { type RequestName, requests } from '../../../../src/core/protocol/requests.js';

const names = Object.keys(requests) as RequestName[];
const NODE = 'worker-1-abcdefg';
const SESSION = `session_${NODE}.${'x'.repeat(22)}`;
const COMMAND = `command_${NODE}.${'x'.repeat(22)}`;
/** Of another node. */
const OTHER = `command_worker-2-abcdefg.${'x'.repeat(22)}`;
const shapeOf = (name: RequestName): Readonly<Record<string, unknown>> => requests[name].input.shape;

describe('the routing of requests', () => {
  it('is there for each request, and for nothing else', () => {
    expect(Object.keys(ROUTES).sort()).toEqual([...names].sort());
  });

  it.each(names.filter((name) => 'session_id' in shapeOf(name)))('sends %s to the node of its session', (name) => {
    if (ROUTES[name].route.by === 'machine') return;
    expect(addressOf(name, { session_id: SESSION })).toEqual({ to: 'node', node: NODE, sessionId: SESSION });
  });

  it.each(names)('finds what %s goes by in its fields', (name) => {
    const { route } = ROUTES[name];
    const fields = Object.keys(shapeOf(name));
    if (route.by === 'session') expect(fields).toContain('session_id');
    if (route.by === 'object') expect(fields).toContain(route.field);
    expect(fields.includes('node') && route.by !== 'here').toBe(takesNode(name));
  });

  it.each(names.filter((name) => RECORDED[name] === 'refusals'))('lets %s, which only looks, be sent again', (name) => {
    expect(ROUTES[name].repeat).toBe('safe');
  });

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
