import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ROLE_NAMES, type Role } from '../../../src/core/principal.js';
import { requestsFor } from '../../../src/core/protocol/permissions.js';
import { TestDaemon } from '../../support/daemon.js';
import { WireClient } from '../../support/wire.js';
import { uniqueSleep } from '../llm/support.js';

let daemon: TestDaemon;
const clients: WireClient[] = [];

beforeAll(async () => {
  const hangs = { command: 'sleep', args: [String(uniqueSleep(4400))], stdin_mode: 'pipe' };
  daemon = await TestDaemon.start({ settings: { llm: { shell_providers: { hangs } } } });
});
afterAll(async () => {
  for (const client of clients) await client[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
});

async function come(role: Role, name: string = role): Promise<WireClient> {
  const client = await WireClient.connect(daemon.url, ['websocket'], { token: daemon.createToken(role, name) });
  clients.push(client);
  return client;
}

describe('an operator and what belongs to an agent', () => {
  it('may be stopped, and neither typed into nor used', async () => {
    const [agent, operator, viewer] = [await come('agent'), await come('operator'), await come('viewer')];
    const session = await agent.openSession();
    const { command_id: running } = await agent.run('sleep 300', session, { background: true });
    const { command_id: waiting } = await agent.run('echo never', session, { background: true });
    const refused = await viewer.request('signal_command', { command_id: running, signal: 'SIGKILL' });
    expect(refused.error?.code).toBe('FORBIDDEN');
    expect((await operator.request('signal_command', { command_id: running, signal: 'SIGUSR1' })).error).toMatchObject({
      code: 'FORBIDDEN',
      details: { needs: ['admin'] },
    });
    expect((await operator.request('send_input', { session_id: session, data: 'x' })).error?.code).toBe('FORBIDDEN');
    expect((await operator.run('ls', session)).error?.code).toBe('FORBIDDEN');
    // A queued command has no process: it leaves the queue.
    expect(await operator.request('signal_command', { command_id: waiting, signal: 'SIGTERM' })).toEqual({
      signalled: [],
    });
    const { signalled } = await operator.request('signal_command', { session_id: session, signal: 'SIGINT' });
    expect(signalled).toHaveLength(1);
    expect(await agent.request('wait_command', { command_id: running })).toMatchObject({ status: 'interrupted' });
    expect(await operator.request('reset_session', { session_id: session })).toMatchObject({ session_id: session });
    expect(await operator.request('close_session', { session_id: session })).toEqual({ session_id: session });
    expect((await agent.request('get_session', { session_id: session })).error?.code).toBe('SESSION_NOT_FOUND');
  });

  it('cancels an LLM call of another, and an agent does not', async () => {
    const [asking, operator, other] = [
      await come('agent', 'asks'),
      await come('operator', 'op'),
      await come('agent', 'x'),
    ];
    const answer = asking.request('llm_call', {
      call_id: 'stuck',
      shell_provider: 'hangs',
      messages: [{ role: 'user', content: 'hello' }],
    });
    await asking.request('daemon_status');
    expect(await other.request('cancel_llm', { call_id: 'stuck' })).toMatchObject({ cancelled: false });
    expect(await operator.request('cancel_llm', { call_id: 'stuck' })).toMatchObject({ cancelled: true });
    expect((await answer).error?.code).toBe('LLM_CANCELLED');
  });
});

describe('describe_access', () => {
  it.each(ROLE_NAMES)('says what a token of the role %s is, and what it may ask', async (role) => {
    const client = await come(role, `described-${role}`);
    const access = await client.request('describe_access', {});
    expect(access).toMatchObject({ name: `described-${role}`, role, is_local: false });
    expect(access.token_id).toMatch(/^token_/);
    expect(access).not.toHaveProperty('expires_at');
    expect(access.may).toEqual(requestsFor(role));
  });

  it('says so of a program without a token, and of a token with an end', async () => {
    const local = await WireClient.connect(daemon.url);
    clients.push(local);
    const access = await local.request('describe_access', {});
    expect(access).toMatchObject({ name: 'local', role: 'admin', is_local: true });
    expect(access).not.toHaveProperty('token_id');
    const { secret, token } = await local.request('create_token', { name: 'short', role: 'viewer', expires_in: '2h' });
    const short = await WireClient.connect(daemon.url, ['websocket'], { token: secret });
    clients.push(short);
    expect((await short.request('describe_access', {})).expires_at).toBe(token.expires_at);
  });
});

describe('detach_session', () => {
  it('ends the events of a session, which goes on', async () => {
    const [owner, viewer] = [await come('agent', 'prints'), await come('viewer', 'leaves')];
    const session = await owner.openSession();
    await viewer.request('attach_session', { session_id: session });
    await owner.run('echo one', session, { stream: true });
    await viewer.event('command_finished');
    expect(await viewer.request('detach_session', { session_id: session })).toEqual({ session_id: session });
    const count = viewer.events.length;
    await owner.run('echo two', session, { stream: true });
    expect(await viewer.request('get_session', { session_id: session })).toMatchObject({ attached_clients: 1 });
    expect(viewer.events).toHaveLength(count);
    await viewer.request('attach_session', { session_id: session, max_bytes_per_second: 65_536 });
    expect(await viewer.request('get_session', { session_id: session })).toMatchObject({ observers: 1 });
    await viewer.request('detach_session', { session_id: session });
    expect(await viewer.request('get_session', { session_id: session })).toMatchObject({ observers: 0 });
  });
});
