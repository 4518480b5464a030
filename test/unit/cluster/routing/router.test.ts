import { beforeEach, describe, expect, it, vi } from 'vitest';

import { nodeUnreachable } from '../../../../src/cluster/failures.js';
import { Router, type Shared } from '../../../../src/cluster/router.js';
import { SessionNodes } from '../../../../src/cluster/placement.js';
import type { Worker, Workers } from '../../../../src/cluster/workers.js';
import type { ReceivedRequest, RoutedReply } from '../../../../src/services/cluster-port.js';

/** A node that is known by its lease; `connect` finds which run of it there is. */
const workerOf = (name: string, connect = () => Promise.resolve(undefined)) =>
  ({
    link: { state: 'resting', connect },
    ...{ name, nodeId: `${name}-aaaaaaa`, isHere: false, isLive: true, isDraining: false },
    ...{ labels: {}, load: 0, capacity: 8, problem: undefined, begin: () => () => undefined },
  }) as unknown as Worker;

/** One that has come since the last beat. */
const late = workerOf('late');

/** The first of them is chosen, as long as it counts as live; it cannot be connected to. */
const workers = [workerOf('a'), workerOf('b')];

let asked: string[];
let isFirst: boolean;
/** Whether no other gateway was told of the command meanwhile. */
let isUntold: boolean;
const unclaim = vi.fn(() => Promise.resolve(isUntold));
let router: Router;

beforeEach(() => {
  asked = [];
  isUntold = true;
  unclaim.mockClear();
  const find = (node: string) => workers.find(({ name, nodeId }) => name === node || nodeId === node);
  const places = {
    claim: () => Promise.resolve({ nodeId: 'a-aaaaaaa', isFirst }),
    unclaim,
    open: (({ nodes }, open) => open(nodes[0]!, 'session_id')) satisfies Shared['places']['open'],
  };
  const known = { find: (node: string) => Promise.resolve(node === late.nodeId ? late : undefined), isAvailable: true };
  router = new Router(
    new SessionNodes(undefined, { all: () => workers, find } as unknown as Workers),
    {} as never,
    ({ name }) => {
      asked.push(name);
      const reply = name === 'a' ? { error: nodeUnreachable(name, 'refused').toBody() } : { status: 'completed' };
      return Promise.resolve({ reply, isRecorded: false } as unknown as RoutedReply);
    },
    { places, known } as unknown as Shared,
  );
});

function send(name: ReceivedRequest['name'], request: object, http?: object): Promise<RoutedReply> | undefined {
  const caller = { principal: { id: 'agent' } };
  return router.route({ name, request, payload: request, caller, ...http } as unknown as ReceivedRequest)?.();
}

it('a command that was sent to an earlier run of a node is lost, though its lease says that the run goes on', async () => {
  isFirst = false;
  const [before] = workers;
  const restarted = workerOf('a', () => {
    Object.assign(restarted, { nodeId: 'a-bbbbbbb' });
    return Promise.resolve(undefined);
  });
  workers[0] = restarted;
  try {
    const sent = send('execute_command', { command: ':', command_id: 'sent' });
    await expect(sent).rejects.toMatchObject({ code: 'NODE_LOST', details: { maybe_executed: true } });
    expect(asked).toEqual([]);
  } finally {
    workers[0] = before!;
  }
});

it('a command whose id names no node is asked of all nodes, and with its session of the node of that alone', async () => {
  await send('wait_command', { command_id: 'chosen' });
  expect(asked.splice(0)).toEqual(['a', 'b']);
  await send('wait_command', { command_id: 'chosen', session_id: `session_b-aaaaaaa.${'x'.repeat(22)}` });
  expect(asked).toEqual(['b']);
});

describe('a node that counts as live, and cannot be connected to', () => {
  it('has another one open the session, or run a command without an id of its own', async () => {
    await send('open_session', {});
    expect(asked.splice(0)).toEqual(['a', 'b']);
    await send('execute_command', { command: ':' });
    expect(asked).toEqual(['a', 'b']);
  });

  it('keeps a command that another gateway may have sent there: it does not run on another one', async () => {
    isFirst = false;
    const first = await send('execute_command', { command: ':', command_id: 'sent' });
    const details = { node: 'a', retry_safe: true, maybe_executed: true };
    expect(first?.reply).toMatchObject({ error: { code: 'NODE_UNREACHABLE', details } });
    const second = await send('execute_command', { command: ':', command_id: 'sent' });
    expect(second?.reply).toMatchObject({ error: { code: 'NODE_UNREACHABLE' } });
    expect([asked, unclaim.mock.calls]).toEqual([['a', 'a'], []]);
  });

  it('gives a command back that was not sent', async () => {
    isFirst = true;
    const answer = await send('execute_command', { command: ':', command_id: 'new' });
    expect(answer?.reply).toMatchObject({ error: { details: { maybe_executed: false } } });
    expect(unclaim.mock.calls).toEqual([[{ id: 'agent' }, 'new', 'a-aaaaaaa', false]]);
  });

  it('keeps a command that was not sent, and of which another gateway was told meanwhile', async () => {
    [isFirst, isUntold] = [true, false];
    const answer = await send('execute_command', { command: ':', command_id: 'both' });
    expect(answer?.reply).toMatchObject({ error: { code: 'NODE_UNREACHABLE', details: { maybe_executed: true } } });
  });
});

describe('a request over HTTP', () => {
  const http = { http: () => ({}) };

  it('is sent once: its content cannot be read again for another node', async () => {
    const answer = await send('llm_call', {}, http);
    expect([asked, answer?.reply]).toMatchObject([['a'], { error: { code: 'NODE_UNREACHABLE' } }]);
  });

  it('goes to the node of the one that it repeats, if that takes something more', async () => {
    const again = { ...http, repeatKey: 'same' };
    await send('llm_call', {}, again);
    const [first] = workers;
    workers.reverse();
    Object.assign(first!, { load: 1 });
    await send('llm_call', {}, again);
    Object.assign(first!, { isDraining: true });
    await send('llm_call', {}, again);
    Object.assign(first!, { load: 0, isDraining: false });
    workers.reverse();
    expect(asked).toEqual(['a', 'a', 'b']);
  });

  it('finds the node of its session as a message does, though that has come since the last beat', async () => {
    const session_id = `session_late-aaaaaaa.${'x'.repeat(22)}`;
    await send('read_file', { session_id, path: 'x' }, http);
    await send('read_file', { session_id, path: 'x' });
    expect(asked).toEqual(['late', 'late']);
  });
});
