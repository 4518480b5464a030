import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect } from 'vitest';

import type { RequestName } from '../../../src/core/protocol/requests.js';
import { ASKING } from '../../support/daemon.js';
import { daemonTest } from '../../support/daemon-test.js';
import { WireClient } from '../../support/wire.js';

const it = daemonTest({ settings: { confirmation: ASKING } });

/** Requests about a command, with what they need beside its id. */
const REQUESTS = {
  wait_command: { timeout_ms: 0 },
  read_output: {},
  search_output: { pattern: 'x' },
  read_screen: {},
  send_input: { data: 'x' },
  signal_command: { signal: 'SIGTERM' },
} as const satisfies Partial<Record<RequestName, object>>;

const names = Object.keys(REQUESTS) as (keyof typeof REQUESTS)[];

const codeOf = async (client: WireClient, name: keyof typeof REQUESTS, about: object): Promise<string | undefined> =>
  (await client.request(name, { ...REQUESTS[name], ...about } as never)).error?.code;

it('a command of another session, or of none, is unknown in a session', async ({ client }) => {
  const [session_id, other] = [await client.openSession(), await client.openSession()];
  const [inSession, alone] = [randomUUID(), randomUUID()];
  await client.run('echo ready; read -r line', session_id, { command_id: inSession, background: true, tty: true });
  await client.run('sleep 60', undefined, { command_id: alone, background: true });
  // Its session may be that of a port or a path.
  const ready = { command_id: inSession, session_id: other, screen_text: 'ready' };
  expect(await client.request('wait_for', ready)).toMatchObject({ met: true });
  for (const name of names) {
    for (const about of [
      { command_id: inSession, session_id: other },
      { command_id: inSession, session_id: 'none' },
      { command_id: alone, session_id },
    ])
      expect([name, await codeOf(client, name, about)]).toEqual([name, 'COMMAND_NOT_FOUND']);
  }
  const named = { command_id: inSession, session_id };
  expect(await client.request('send_input', { ...named, data: '\n' })).toEqual({ accepted_bytes: 1 });
  expect(await client.request('wait_command', named)).toMatchObject({ exit_code: 0, session_id });
  for (const name of ['read_output', 'search_output', 'read_screen'] as const)
    expect([name, await codeOf(client, name, named)]).toEqual([name, undefined]);
  expect(await codeOf(client, 'signal_command', { command_id: alone })).toBeUndefined();
});

it('a streamed input is that of a command in its session, also before the command runs', async ({ client }) => {
  const [session_id, other] = [await client.openSession(), await client.openSession()];
  const command_id = randomUUID();
  const ended = client.run('cat', session_id, { command_id, stdin_stream: true });
  for (const wrong of [other, 'none'])
    expect(await codeOf(client, 'send_input', { command_id, session_id: wrong })).toBe('COMMAND_NOT_FOUND');
  await client.request('send_input', { command_id, session_id, data: 'fed', eof: true });
  expect(await ended).toMatchObject({ stdout: 'fed' });
});

it('a command that waits for its confirmation is that of its session', async ({ daemon, client }) => {
  const [session_id, other] = [await client.openSession(), await client.openSession()];
  const command_id = randomUUID();
  writeFileSync(join(daemon.workspace, 'kept'), '');
  const asked = await client.run('rm kept', session_id, { command_id });
  expect(asked.status).toBe('confirmation_required');
  for (const name of ['wait_command', 'signal_command'] as const)
    expect([name, await codeOf(client, name, { command_id, session_id: other })]).toEqual([name, 'COMMAND_NOT_FOUND']);
  const status = (await client.request('wait_command', { command_id, session_id, timeout_ms: 0 })).status;
  expect(status).toBe('confirmation_required');
  const signalled = await client.request('signal_command', { command_id, session_id, signal: 'SIGTERM' });
  expect(signalled).toEqual({ signalled: [] });
});

it('one id of two owners is that of the command in the session', async ({ daemon, client }) => {
  const command_id = randomUUID();
  await client.run('echo own', undefined, { command_id });
  const token = daemon.createToken('agent', `agent-${randomUUID()}`);
  await using agent = await WireClient.connect(daemon.url, ['websocket'], { token });
  const session_id = await agent.openSession();
  await agent.run('echo another', session_id, { command_id });
  expect(await client.request('wait_command', { command_id })).toMatchObject({ stdout: 'own\n' });
  expect(await client.request('wait_command', { command_id, session_id })).toMatchObject({ stdout: 'another\n' });
});
