import { readdirSync, readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import type { TestDaemon } from '../support/daemon.js';
import type { WireClient } from '../support/wire.js';
import type { TestCluster, TestWorker } from './harness/cluster.js';
import { useCluster } from './harness/use-cluster.js';

let cluster: TestCluster;
let gateway: TestDaemon;
let worker: TestWorker;
let client: WireClient;

useCluster((started) => {
  ({ cluster, gateway, worker, client } = started);
});

describe('a client of a gateway', () => {
  it('runs commands in a session of a worker, whose id names it', async () => {
    const id = await client.openSession();
    expect(id).toMatch(/^session_worker-1-[a-z0-9]{7}\./);
    expect(await client.run('cd /tmp && export X=1', id)).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(await client.run('echo $X $PWD', id)).toMatchObject({ stdout: '1 /tmp\n' });
    expect(await client.request('get_session', { session_id: id })).toMatchObject({ node: 'worker-1' });
    expect(await client.request('list_sessions')).toMatchObject({ sessions: [{ session_id: id, node: 'worker-1' }] });
    await client.request('close_session', { session_id: id });
    await client.event('session_closed', (event) => event.session_id === id);
  });

  it('gets output as it comes, before the answer', async () => {
    const id = await client.openSession();
    const answer = await client.run('printf one; printf two >&2', id, { stream: true });
    const output = client.all('command_output').filter(({ session_id: session }) => session === id);
    expect(output.map(({ data }) => data).sort()).toEqual(['one', 'two']);
    expect(answer).toMatchObject({ stdout: 'one', stderr: 'two' });
    const last = client.events.findLastIndex(({ name }) => name === 'command_output');
    expect(last).toBeLessThan(client.events.length);
  });

  it('runs commands without a session, and asks for them by ids of its own', async () => {
    const answer = await client.run('echo $$; pwd', undefined, { command_id: 'mine' });
    expect(answer).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(await client.request('wait_command', { command_id: 'mine' })).toMatchObject({ stdout: answer.stdout });
    expect(await client.request('read_output', { command_id: 'mine' })).toMatchObject({ eof: true });
    const unnamed = await client.run('true');
    expect(unnamed.command_id).toMatch(/^command_worker-1-[a-z0-9]{7}\./);
  });

  it('reads and writes files of the only worker, bytes as bytes', async () => {
    const data = Buffer.from([0, 255, 1, 254]);
    expect(await client.request('write_file', { path: 'bytes', data })).toMatchObject({ size: 4, created: true });
    const read = await client.request('read_file', { path: 'bytes' });
    expect(Buffer.from(read.data as Uint8Array)).toEqual(data);
    expect(readFileSync(`${worker.daemon.workspace}/bytes`)).toEqual(data);
  });

  it('is told of what is not there as directly', async () => {
    expect((await client.run('true', 'session_none')).error?.code).toBe('SESSION_NOT_FOUND');
    expect((await client.request('wait_command', { command_id: 'none' })).error?.code).toBe('COMMAND_NOT_FOUND');
    expect((await client.request('read_file', { path: 'none' })).error?.code).toBe('FILE_NOT_FOUND');
    expect((await client.request('read_file', { path: 'x', node: 'worker-2' })).error).toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('did you mean worker-1') as string,
    });
  });
});

describe('a gateway', () => {
  it('starts no process', () => {
    const children = readdirSync(`/proc/${gateway.pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${gateway.pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean),
    );
    expect(children).toEqual([]);
  });

  it('lists its nodes, and is ready while a worker is there', async () => {
    await using operator = await cluster.connect(gateway, 'operator');
    const { nodes } = await operator.request('list_nodes');
    expect(nodes).toMatchObject([
      { node: 'gate', role: 'gateway', state: 'live' },
      { node: 'worker-1', role: 'worker', state: 'live', problem: null, url: worker.url },
    ]);
    expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
  });
});

describe('an examination of the machine', () => {
  it('is of the gateway, without what commands need, or of the worker that it names', async () => {
    await using operator = await cluster.connect(gateway, 'operator');
    const namesOf = async (node?: string) =>
      (await operator.request('examine_machine', { node })).checks.map(({ name }) => name);
    const own = await namesOf();
    expect(own).toEqual(expect.arrayContaining(['node', 'cluster secret', 'cluster certificate', 'configuration']));
    expect(own).not.toContain('bash');
    expect(await namesOf('worker-1')).toEqual(expect.arrayContaining(['bash', 'pty', 'cluster certificate']));
  });
});

describe('a worker', () => {
  it('has the client and its gateway in the audit log', async () => {
    await client.run('echo audited');
    const records = readFileSync(worker.daemon.auditFile, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(records).toContainEqual(
      expect.objectContaining({ from: expect.stringMatching(/^node gate, socketio 127/) as string }),
    );
  });

  it('serves health, and no client', async () => {
    expect((await fetch(`${worker.daemon.url}/readyz`)).status).toBe(200);
    expect((await fetch(`${worker.daemon.url}/socket.io/?EIO=4&transport=polling`)).status).toBe(404);
    expect((await fetch(`${worker.daemon.url}/v1/requests/list_sessions`, { method: 'POST' })).status).toBe(404);
  });
});
