import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { eventually } from '../../support/measure.js';
import { WireClient } from '../../support/wire.js';
import { canRunRedis } from '../harness/redis.js';
import { createToken, type StartedNodes, useNodes } from '../harness/use-nodes.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Groups of the conformance suite: output, exit codes, input, states. */
const GROUPS = ['a-output', 'b-exit-codes', 'c-input', 'd-state'];

describe.skipIf(!canRunRedis)('equal nodes', () => {
  let started: StartedNodes;
  useNodes((one) => (started = one));

  it('one of which opens all sessions elsewhere give what a daemon alone gives', async () => {
    const [admin] = await started.connect('admin');
    const { url } = started.nodes[0];
    await admin.request('drain_node', { node: 'node-1', drain: true });
    const child = spawn(
      process.execPath,
      ['scripts/conformance.mjs', '--url', url, ...GROUPS.map((name) => `test/conformance/${name}.test.ts`)],
      { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, CI: '1' } },
    );
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    expect(code, output).toBe(0);
    const { records } = await admin.request('read_audit', { node: 'node-2', limit: 500 });
    expect(records.some(({ from }) => String(from).startsWith('node node-1'))).toBe(true);
    await admin.request('drain_node', { node: 'node-1', drain: false });
    await admin[Symbol.asyncDispose]();
  });

  it('end after SIGTERM when their sessions have, and open new ones elsewhere meanwhile', async () => {
    const ending = await started.cluster.startNode('node-4', { cluster: { drain_timeout: 60 } });
    const [secret, clients] = [createToken(started.nodes[0], 'agent'), [] as WireClient[]];
    for (const { url } of [ending, started.nodes[2]])
      clients.push(await eventually(() => WireClient.connect(url, ['websocket'], { token: secret })));
    const [here, there] = clients as [WireClient, WireClient];
    const id = await here.openSession({ placement: { node: 'node-4' } });
    await eventually(() =>
      there.request('attach_session', { session_id: id }).then(({ error }) => expect(error).toBeUndefined()),
    );
    ending.signal('SIGTERM');
    expect(await there.event('server_shutdown')).toMatchObject({ node: 'node-4' });
    expect(await here.openSession()).toMatch(/^session_node-[123]-/);
    expect((await fetch(`${ending.url}/readyz`)).status).toBe(503);
    expect(await there.run('echo still here', id)).toMatchObject({ stdout: 'still here\n' });
    await there.request('close_session', { session_id: id });
    expect(await ending.exited).toBe(0);
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
  });

  it('say what was lost with one that is killed, and go on', async () => {
    const clients = await started.connect();
    const [kept, lost] = [
      await clients[0].openSession(),
      await clients[0].openSession({ placement: { node: 'node-2' } }),
    ];
    const underWay = clients[0].run('sleep 60', lost);
    await eventually(async () => {
      const { state } = await clients[2].request('get_session', { session_id: lost });
      expect(state).toBe('busy');
    });
    started.nodes[1].signal('SIGKILL');
    expect((await underWay).error).toMatchObject({
      code: 'NODE_LOST',
      details: { node: 'node-2', maybe_executed: true },
    });
    expect(await clients[0].event('session_closed', ({ session_id }) => session_id === lost)).toMatchObject({
      reason: 'node_lost',
    });
    for (const client of [clients[0], clients[2]]) {
      await eventually(async () => {
        const { error } = await client.request('get_session', { session_id: lost });
        expect(error).toMatchObject({ code: 'SESSION_NOT_FOUND', details: { reason: 'node_lost' } });
      });
      expect(await client.run('echo kept', kept)).toMatchObject({ stdout: 'kept\n' });
    }
    await eventually(async () => {
      expect(await clients[0].request('list_sessions')).toMatchObject({ sessions: [{ session_id: kept }] });
      expect((await clients[0].request('list_sessions')).unreachable).toBeUndefined();
    });
    const again = await started.cluster.startNode('node-2');
    await eventually(async () => {
      expect(await clients[2].openSession({ placement: { node: 'node-2' } })).toMatch(/^session_node-2-/);
    });
    expect((await clients[2].request('get_session', { session_id: lost })).error?.code).toBe('SESSION_NOT_FOUND');
    await again.stop();
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
  });
});
