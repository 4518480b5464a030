import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Role } from '../../src/core/principal.js';
import type { RequestInput, RequestName } from '../../src/core/protocol/requests.js';
import { TestDaemon } from '../support/daemon.js';
import { eventually } from '../support/measure.js';
import { WireClient } from '../support/wire.js';
import { behaving, uniqueSleep } from './llm/support.js';

/** Enough records for more than one block of a file, and for a rotation. */
const COMMANDS = 60;

let daemon: TestDaemon;
let admin: WireClient;
let local: WireClient;

const come = (token: string) => WireClient.connect(daemon.url, ['websocket'], { token });
const comeAs = (role: Role, name: string) => come(daemon.createToken(role, name));

beforeAll(async () => {
  daemon = await TestDaemon.start({
    settings: {
      audit: { max_size: 65_536, backups: 50 },
      llm: {
        concurrency: 1,
        shell_providers: {
          answers: behaving('upper'),
          fails: behaving('failing', 3, 'hello'),
          hangs: { command: 'sleep', args: [String(uniqueSleep(4300))], stdin_mode: 'pipe' },
        },
      },
    },
  });
  admin = await comeAs('admin', 'chief');
  local = await WireClient.connect(daemon.url);
});

afterAll(async () => {
  await admin[Symbol.asyncDispose]();
  await local[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
});

describe('requests for some roles', () => {
  it.each<readonly [RequestName, RequestInput<RequestName>, readonly Role[]]>([
    ['read_audit', {}, ['viewer', 'agent']],
    ['verify_audit', {}, ['viewer', 'agent']],
    ['examine_machine', {}, ['viewer', 'agent']],
    ['list_tokens', {}, ['viewer', 'agent', 'operator']],
    ['create_token', { name: 'mine', role: 'viewer' }, ['viewer', 'agent', 'operator']],
    ['rotate_token', { name_or_id: 'chief' }, ['viewer', 'agent', 'operator']],
    ['revoke_token', { name_or_id: 'chief' }, ['viewer', 'agent', 'operator']],
  ])('%s is refused to others', async (name, payload, roles) => {
    for (const role of roles) {
      await using client = await comeAs(role, `${role}-${name}`);
      expect((await client.request(name, payload as never)).error).toMatchObject({
        code: 'FORBIDDEN',
        details: { request: name, role },
      });
    }
  });
});

describe('read_audit and verify_audit', () => {
  beforeAll(async () => {
    for (let number = 0; number < COMMANDS; number += 1) await local.run(`: ${'x'.repeat(1000)} ${number}`);
    await eventually(async () => {
      const { records } = await admin.request('read_audit', { event: 'command_ended', limit: 500 });
      expect(records).toHaveLength(COMMANDS);
    });
  });

  it('gives the newest records first, and all of them page by page, over several files', async () => {
    const seen: number[] = [];
    let before: number | undefined;
    for (;;) {
      const page = await admin.request('read_audit', { before, limit: 17 });
      expect(page.records.length).toBeLessThanOrEqual(17);
      expect(page.unreadable).toBe(0);
      seen.push(...page.records.map(({ seq }) => seq));
      if (page.next === null) break;
      before = page.next;
    }
    expect(seen.length).toBeGreaterThan(2 * COMMANDS);
    expect(seen.at(-1)).toBe(1);
    expect(seen).toEqual(seen.toSorted((a, b) => b - a));
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('gives the records that match', async () => {
    const { records } = await admin.request('read_audit', { event: 'command_started', text: `X ${COMMANDS - 1}` });
    expect(records).toEqual([
      expect.objectContaining({ event: 'command_started', principal: expect.anything() as object }),
    ]);
    const { time, seq } = records[0]!;
    const later = await admin.request('read_audit', { since: time, event: 'command_started' });
    expect(later.records.map((record) => record.seq)).toEqual([seq]);
    const none = await admin.request('read_audit', { principal: 'nobody' });
    expect(none).toMatchObject({ records: [], next: null });
  });

  it('refuses what is no query', async () => {
    expect((await admin.request('read_audit', { before: 0 })).error?.code).toBe('INVALID_REQUEST');
    expect((await admin.request('read_audit', { limit: 501 })).error?.code).toBe('INVALID_REQUEST');
    expect((await admin.request('read_audit', { since: 'yesterday' })).error?.code).toBe('INVALID_REQUEST');
  });

  it('verifies the chain, keeps the finding, and skips a record that was changed', async () => {
    const found = await admin.request('verify_audit');
    expect(found).toMatchObject({ ok: true, from: 1, problems: [] });
    expect(found.records).toBeGreaterThan(2 * COMMANDS);
    const again = await admin.request('verify_audit');
    expect(again.checked_at).toBe(found.checked_at);
    const oldest = `${daemon.auditFile}.1`;
    const text = readFileSync(oldest, 'utf8');
    writeFileSync(oldest, text.replace('"command_started"', '"command_starteX"'));
    const { unreadable, next } = await admin.request('read_audit', { limit: 500 });
    expect({ unreadable, next }).toEqual({ unreadable: 1, next: null });
    writeFileSync(oldest, text);
  });
});

describe('tokens over the wire', () => {
  it('are created, listed, rotated and revoked, and each change ends or opens what it should at once', async () => {
    const made = await admin.request('create_token', { name: 'ci', role: 'agent', expires_in: '90d' });
    expect(made.token).toEqual({
      token_id: expect.stringMatching(/^token_/) as string,
      name: 'ci',
      role: 'agent',
      created_at: expect.any(String) as string,
      expires_at: expect.any(String) as string,
      connections: 0,
    });
    expect(made.secret).toMatch(/^sat_/);
    await using client = await come(made.secret);
    const { tokens } = await admin.request('list_tokens');
    expect(tokens.find(({ name }) => name === 'ci')).toEqual({ ...made.token, connections: 1 });
    expect(JSON.stringify(tokens)).not.toContain('sat_');

    const closed = new Promise((resolve) => client.socket.once('disconnect', resolve));
    const rotated = await admin.request('rotate_token', { name_or_id: made.token.token_id });
    expect(rotated.token).toEqual(made.token);
    expect(rotated.secret).not.toBe(made.secret);
    expect((await client.event('access_ended')).message).toContain('ci was changed');
    await closed;
    await expect(come(made.secret)).rejects.toThrow(/not known/);

    await using next = await come(rotated.secret);
    const ended = next.event('access_ended');
    expect(await admin.request('revoke_token', { name_or_id: 'ci' })).toEqual({ token: made.token });
    expect((await ended).message).toContain('ci was revoked');
    await expect(come(rotated.secret)).rejects.toThrow(/not known/);
    for (const secret of [made.secret, rotated.secret]) {
      expect(daemon.output).not.toContain(secret);
      const { records } = await admin.request('read_audit', { text: secret.slice(4) });
      expect(records).toEqual([]);
    }
  });

  it('are recorded without their secrets, with what was asked', async () => {
    const changes = await eventually(async () => {
      const { records } = await admin.request('read_audit', { event: 'request', principal: 'chief', text: '_token' });
      expect(records.length).toBeGreaterThanOrEqual(3);
      return records.map(({ request, outcome, details }) => ({ request, outcome, details }));
    });
    expect(changes).toEqual(
      expect.arrayContaining([
        { request: 'create_token', outcome: 'ok', details: { name: 'ci', role: 'agent', expires_in: '90d' } },
        { request: 'revoke_token', outcome: 'ok', details: { name_or_id: 'ci' } },
      ]),
    );
  });

  it.each([
    ['create_token', { name: '-', role: 'agent' }, /`name` must be 1 to 64 letters/],
    [
      'create_token',
      { name: 'x', role: 'agent', expires_in: 'soon' },
      /`expires_in` must be a whole number and a unit/,
    ],
    ['create_token', { name: 'chief', role: 'agent' }, /there is a token named chief/],
    ['rotate_token', { name_or_id: 'none' }, /there is no token "none"; there are: first/],
    ['revoke_token', { name_or_id: 'none' }, /there is no token "none"/],
  ] as const)('%s refuses %j', async (name, payload, message) => {
    const { error } = await admin.request(name, payload);
    expect(error).toMatchObject({ code: 'INVALID_REQUEST', message: expect.stringMatching(message) as string });
  });

  it('of operators are not for programs that connect without a token', async () => {
    const refused = await local.request('create_token', { name: 'self', role: 'operator' });
    expect(refused.error).toMatchObject({
      code: 'FORBIDDEN',
      message: expect.stringContaining('because commands could') as string,
    });
    expect((await local.request('rotate_token', { name_or_id: 'chief' })).error?.code).toBe('FORBIDDEN');
    const made = await local.request('create_token', { name: 'guest', role: 'viewer' });
    expect(made.secret).toMatch(/^sat_/);
  });
});

describe('list_llm_calls', () => {
  const ask = (client: WireClient, tool: string, call_id: string) =>
    client.request('llm_call', {
      shell_provider: tool,
      call_id,
      messages: [{ role: 'user', content: 'the question' }],
    });
  const stateOf = async (id: string) =>
    (await admin.request('list_llm_calls', {})).calls.find(({ call_id }) => call_id === id)?.state;

  it('has calls that wait, run and have ended, without what was said', async () => {
    const owner = `asker-${randomUUID()}`;
    await using agent = await comeAs('agent', owner);
    expect((await ask(agent, 'answers', 'good')).error).toBeUndefined();
    expect((await ask(agent, 'fails', 'bad')).error?.code).toBe('LLM_FAILED');
    const running = ask(agent, 'hangs', 'long');
    await eventually(async () => expect(await stateOf('long')).toBe('running'));
    const waiting = ask(agent, 'hangs', 'queued');
    await eventually(async () => expect(await stateOf('queued')).toBe('waiting'));
    const { calls } = await admin.request('list_llm_calls', {});
    expect(
      calls.map(({ call_id, owner, shell_provider, state }) => ({ call_id, owner, shell_provider, state })),
    ).toEqual([
      { call_id: 'queued', owner, shell_provider: 'hangs', state: 'waiting' },
      { call_id: 'long', owner, shell_provider: 'hangs', state: 'running' },
      { call_id: 'bad', owner, shell_provider: 'fails', state: 'LLM_FAILED' },
      { call_id: 'good', owner, shell_provider: 'answers', state: 'ok' },
    ]);
    expect(JSON.stringify(calls)).not.toMatch(/the question|hello/i);
    expect(calls.at(-1)).toMatchObject({ provider: 'shell', usage: {}, resource_usage: expect.any(Object) as object });
    expect((await admin.request('list_llm_calls', { limit: 1 })).calls).toHaveLength(1);
    await using other = await comeAs('agent', `other-${owner}`);
    expect(await other.request('list_llm_calls', {})).toEqual({ calls: [] });
    for (const call_id of ['queued', 'long']) await agent.request('cancel_llm', { call_id });
    expect((await running).error?.code).toBe('LLM_CANCELLED');
    expect((await waiting).error?.code).toBe('LLM_CANCELLED');
    expect(await stateOf('queued')).toBe('LLM_CANCELLED');
  });
});

describe('examine_machine', () => {
  it('gives what doctor finds, and keeps it', async () => {
    await using operator = await comeAs('operator', 'looks');
    const [found, again] = await Promise.all([
      operator.request('examine_machine', {}),
      admin.request('examine_machine', {}),
    ]);
    expect(again).toEqual(found);
    expect(found.checks).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'node', status: 'ok' }),
        expect.objectContaining({ name: 'bash', status: 'ok' }),
        expect.objectContaining({ name: 'adapter.state_directory', status: 'ok' }),
      ]),
    );
    expect((await admin.request('examine_machine', {})).checked_at).toBe(found.checked_at);
  });
});
