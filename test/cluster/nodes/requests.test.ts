import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { eventually } from '../../support/measure.js';
import { readSamples } from '../../support/network/prometheus.js';
import { serveInSession } from '../../support/network/preview.js';
import { WireClient } from '../../support/wire.js';
import { canRunRedis } from '../harness/redis.js';
import { createToken, type StartedNodes, useNodes } from '../harness/use-nodes.js';

let started: StartedNodes;
/** Of the clients. */
let token: string;
/** One at each node. */
let clients: [WireClient, WireClient, WireClient];

/** A tool that says in which workspace it runs. */
const WHERE = { command: 'sh', args: ['-c', 'cat > /dev/null; pwd'] };

const nodeOf = (id: string): string | undefined => /_(node-\d)-/.exec(id)?.[1];

describe.skipIf(!canRunRedis)('equal nodes', () => {
  useNodes((one) => (started = one), { http: { previews: true }, llm: { shell_providers: { where: WHERE } } });
  beforeAll(async () => {
    token = createToken(started.nodes[0], 'agent');
    clients = await started.connect('agent', token);
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
  });

  it('open sessions on themselves, serve those of others, and list all in one order', async () => {
    const ids: string[] = [];
    for (const [i, client] of clients.entries()) {
      const id = await client.openSession();
      expect(nodeOf(id)).toBe(`node-${i + 1}`);
      for (const other of clients) expect(await other.run('echo $((6 * 7))', id)).toMatchObject({ stdout: '42\n' });
      ids.push(id);
    }
    for (const client of clients) {
      const { sessions, unreachable } = await client.request('list_sessions');
      expect(sessions.map(({ session_id: id, node }) => [id, node])).toEqual(ids.map((id) => [id, nodeOf(id)]));
      expect(unreachable).toBeUndefined();
    }
    await Promise.all(ids.map((session_id, i) => clients[(i + 1) % 3]!.request('close_session', { session_id })));
    expect(await clients[0].request('list_sessions')).toEqual({ sessions: [] });
  });

  it('place sessions and commands where the request says', async () => {
    const placement = { node: 'node-2' };
    expect(nodeOf(await clients[0].openSession({ placement }))).toBe('node-2');
    expect(nodeOf(await clients[1].openSession({ placement }))).toBe('node-2');
    expect(nodeOf((await clients[2].run('true')).command_id)).toBe('node-3');
    const unknown = await clients[0].request('open_session', { placement: { node: 'node-9' } });
    expect(unknown.error).toMatchObject({ details: { nodes: ['node-1', 'node-2', 'node-3'] } });
  });

  it('run a command once whose id comes to two of them at the same instant', async () => {
    for (let i = 0; i < 5; i += 1) {
      const command_id = `once-${randomUUID()}`;
      const command = 'echo $RANDOM$RANDOM$RANDOM';
      const [one, two] = await Promise.all(
        [clients[0], clients[1]].map((client) => client.run(command, undefined, { command_id })),
      );
      expect(one!.error).toBeUndefined();
      expect(two!.stdout).toBe(one!.stdout);
    }
  });

  it('find commands of any of them, by ids that clients have chosen, too', async () => {
    const session = await clients[0].openSession();
    for (const session_id of [session, undefined]) {
      const command_id = `found-${randomUUID()}`;
      await clients[0].run('read line; echo "$line"', session_id, {
        command_id,
        background: true,
        stdin_stream: true,
      });
      const ended = clients[1].request('wait_command', { command_id });
      await clients[2].request('send_input', { command_id, data: 'found\n', eof: true });
      expect(await ended).toMatchObject({ stdout: 'found\n', exit_code: 0 });
      expect(await clients[0].request('read_output', { command_id })).toMatchObject({ size: 6 });
    }
    expect((await clients[1].request('wait_command', { command_id: 'unknown' })).error?.code).toBe('COMMAND_NOT_FOUND');
  });

  it('ask the node of its session alone for a command whose id a client has chosen', async () => {
    const [session, elsewhere] = [await clients[0].openSession(), await clients[2].openSession()];
    const command_id = `chosen-${randomUUID()}`;
    await clients[0].run('echo chosen', session, { command_id });
    const relayed = async (outcome: string) => {
      const text = await (await fetch(`${started.nodes[1].url}/metrics`)).text();
      return readSamples(text, 'shell_adapter_cluster_').get(`relayed_requests_total{outcome="${outcome}"}`) ?? 0;
    };
    const [good, unknown] = [await relayed('ok'), await relayed('COMMAND_NOT_FOUND')];
    const wait = (session_id: string) => clients[1].request('wait_command', { command_id, session_id });
    expect(await wait(session)).toMatchObject({ session_id: session, stdout: 'chosen\n' });
    expect([await relayed('ok'), await relayed('COMMAND_NOT_FOUND')]).toEqual([good + 1, unknown]);
    expect((await wait(elsewhere)).error?.code).toBe('COMMAND_NOT_FOUND');
    expect([await relayed('ok'), await relayed('COMMAND_NOT_FOUND')]).toEqual([good + 1, unknown + 1]);
    const named = { command_id, session_id: session };
    expect(await clients[1].request('read_output', named)).toMatchObject({ size: 7 });
    expect((await clients[1].request('search_output', { ...named, pattern: 'chosen' })).matches).toHaveLength(1);
  });

  it('answer what is about one node themselves, unless it names another one', async () => {
    await clients[0].request('write_file', { path: 'here', data: 'one' });
    await clients[0].request('write_file', { path: 'there', data: 'two', node: 'node-2' });
    expect(existsSync(join(started.nodes[0].workspace, 'here'))).toBe(true);
    expect(existsSync(join(started.nodes[1].workspace, 'there'))).toBe(true);
    expect(await clients[1].request('shell_metadata')).toMatchObject({ node: 'node-2' });
    expect(await clients[1].request('shell_metadata', { node: 'node-3' })).toMatchObject({ node: 'node-3' });
    const saved = await clients[0].request('checkpoint_workspace', { node: 'node-2', label: 'two' });
    expect(saved.checkpoint_id).toMatch(/^checkpoint_node-2\./);
    expect((await clients[1].request('list_checkpoints')).checkpoints).toHaveLength(1);
    expect((await clients[0].request('list_checkpoints')).checkpoints).toHaveLength(0);
    const { checkpoint_id } = saved;
    expect((await clients[2].request('restore_workspace', { checkpoint_id })).error).toBeUndefined();
  });

  it('have each its own audit log, with the requests of clients of others', async () => {
    const [operator] = await started.connect('operator');
    await clients[0].openSession({ placement: { node: 'node-3' }, label: 'audited' });
    const recordsOf = async (node?: string) => {
      const { records } = await operator.request('read_audit', { limit: 200, node });
      return records.filter(({ event }) => event === 'request').map(({ from }) => from);
    };
    expect(await recordsOf('node-3')).toContainEqual(expect.stringMatching(/^node node-1, socketio/));
    expect(await recordsOf('node-1')).toEqual(await recordsOf());
    appendFileSync(started.nodes[2].auditFile, 'not a record\n');
    expect(await operator.request('verify_audit', { node: 'node-3' })).toMatchObject({ ok: false });
    expect(await operator.request('verify_audit')).toMatchObject({ ok: true, problems: [] });
    await operator[Symbol.asyncDispose]();
  });

  it('serve files over HTTP, their own and those of others', async () => {
    const headers = { authorization: `Bearer ${token}` };
    const at = (path: string) => `${started.nodes[0].url}/v1/files/${path}`;
    for (const [i, query] of ['', '?node=node-1', '?node=node-2'].entries()) {
      const put = await fetch(at(`http-${i}${query}`), { method: 'PUT', headers, body: `content ${i}` });
      expect(put.ok).toBe(true);
      expect(await (await fetch(at(`http-${i}${query}`), { headers })).text()).toBe(`content ${i}`);
      expect(existsSync(join(started.nodes[i === 2 ? 1 : 0].workspace, `http-${i}`))).toBe(true);
    }
  });

  it('pass previews of ports on to the node of the session', async () => {
    for (const [i, client] of clients.slice(0, 2).entries()) {
      const served = await serveInSession(client);
      expect(nodeOf(served.session_id)).toBe(`node-${i + 1}`);
      for (const { url } of started.nodes) {
        const headers = { authorization: `Bearer ${token}` };
        const answer = await fetch(`${url}${served.path}echo`, { method: 'POST', body: 'the body', headers });
        expect(await answer.json()).toMatchObject({ method: 'POST', body: 'the body' });
      }
      await client.request('close_session', { session_id: served.session_id });
    }
  });

  it('answer completions themselves, and have others answer them while they are drained', async () => {
    const [admin] = await started.connect('admin');
    const complete = async () => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ model: 'where', messages: [{ role: 'user', content: 'hello' }] });
      const answer = await fetch(`${started.nodes[0].url}/v1/chat/completions`, { method: 'POST', headers, body });
      const { choices } = (await answer.json()) as { choices: [{ message: { content: string } }] };
      return choices[0].message.content;
    };
    const [own, ...others] = started.nodes.map(({ workspace }) => workspace);
    expect(await complete()).toContain(own);
    await admin.request('drain_node', { node: 'node-1', drain: true });
    const answer = await complete();
    expect(others.some((workspace) => answer.includes(workspace))).toBe(true);
    await admin.request('drain_node', { node: 'node-1', drain: false });
    await admin[Symbol.asyncDispose]();
  });

  it('give programs without a token the configured role elsewhere', async () => {
    await using local = await WireClient.connect(started.nodes[0].url);
    const [here, there] = [await local.openSession(), await local.openSession({ placement: { node: 'node-2' } })];
    expect(nodeOf(here)).toBe('node-1');
    const { sessions } = await local.request('list_sessions');
    const ownerOf = (id: string) => sessions.find(({ session_id }) => session_id === id)?.owner;
    expect([ownerOf(here), ownerOf(there)]).toEqual(['local', 'local.node-1']);
    for (const id of [here, there]) expect(await local.run('echo ok', id)).toMatchObject({ stdout: 'ok\n' });
    expect((await local.request('read_audit', { node: 'node-2' })).error?.code).toBe('FORBIDDEN');
  });

  it('are drained by any of them, and take clients meanwhile', async () => {
    const [admin] = await started.connect('admin');
    const kept = await clients[1].openSession();
    for (const node of ['node-1', 'node-2'])
      expect(await admin.request('drain_node', { node, drain: true })).toMatchObject({ node: { state: 'draining' } });
    expect((await fetch(`${started.nodes[0].url}/readyz`)).status).toBe(503);
    await eventually(async () => {
      for (const client of clients) expect(nodeOf(await client.openSession())).toBe('node-3');
    });
    expect(nodeOf((await clients[0].run('true')).command_id)).toBe('node-3');
    expect(await clients[0].run('echo kept', kept)).toMatchObject({ stdout: 'kept\n' });
    const named = await clients[0].request('open_session', { placement: { node: 'node-1' } });
    expect(named.error?.code).toBe('NODE_DRAINING');
    for (const node of ['node-1', 'node-2']) await admin.request('drain_node', { node, drain: false });
    expect(nodeOf(await clients[0].openSession())).toBe('node-1');
    await admin[Symbol.asyncDispose]();
  });
});
