import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Role, ROLE_NAMES } from '../../../src/core/principal.js';
import { TestDaemon } from '../../support/daemon.js';
import { ask } from '../../support/http.js';
import { WireClient } from '../../support/wire.js';

/** What `POST /session` gives. */
interface SignIn {
  readonly token: string;
  readonly name: string;
  readonly role: Role;
  readonly expires_at: string;
}

let daemon: TestDaemon;
let local: WireClient;
const secrets: string[] = [];

beforeAll(async () => {
  daemon = await TestDaemon.startCold({ settings: { confirmation: { mode: 'operator', checkpoint: false } } });
  local = await WireClient.connect(daemon.url);
});
afterAll(async () => {
  await local[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
});

const come = (token: string) => WireClient.connect(daemon.url, ['websocket'], { token });

async function makeCode(client: WireClient, payload: object = {}): Promise<string> {
  const { path } = await client.request('create_dashboard_link', payload);
  const code = path.replace('/#code=', '');
  secrets.push(code);
  return code;
}

/** What a page sends to sign in, by default as a browser does for the page of the daemon. */
const signIn = (code: string, headers: Record<string, string> = { origin: daemon.url }) =>
  ask(new URL('/session', daemon.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ code }),
  });

const signOut = (token: string) =>
  ask(new URL('/session', daemon.url), {
    method: 'DELETE',
    headers: { origin: daemon.url, authorization: `Bearer ${token}` },
  });

async function openPage(maker: WireClient, payload: object = {}): Promise<SignIn> {
  const page = (await signIn(await makeCode(maker, payload))).body as SignIn;
  secrets.push(page.token);
  return page;
}

describe('a link', () => {
  it('signs one page in, once, as its maker', async () => {
    const code = await makeCode(local, { expires_in_ms: 3_600_000 });
    const { status, body } = await signIn(code);
    expect({ status, body }).toMatchObject({ status: 200, body: { name: 'local', role: 'admin' } });
    const { token, expires_at } = body as SignIn;
    expect(token).toMatch(/^sap_[\w-]{43}$/);
    expect(Date.parse(expires_at) - Date.now()).toBeGreaterThan(3_500_000);
    expect(Date.parse(expires_at) - Date.now()).toBeLessThanOrEqual(3_600_000);
    expect(await local.event('dashboard_link_used')).toEqual({ path: `/#code=${code}` });
    expect(await signIn(code)).toMatchObject({ status: 401, body: { error: { code: 'UNAUTHORIZED' } } });
    await using page = await come(token);
    expect((await page.request('daemon_status')).caller).toMatchObject({
      name: 'local',
      role: 'admin',
      has_token: false,
    });
    const access = await page.request('describe_access', {});
    expect(access).toMatchObject({ name: 'local', is_local: true, expires_at });
    expect(access.may).not.toContain('create_dashboard_link');
    expect((await page.request('create_dashboard_link')).error?.message).toContain('cannot make links');
  });

  it.each([
    ['another page', { origin: 'https://evil.example' }],
    ['a page of another port', { origin: 'http://127.0.0.1:1' }],
    ['a program without an origin', {}],
  ])('is of no use to %s', async (_, headers) => {
    const code = await makeCode(local);
    expect(await signIn(code, headers)).toMatchObject({ status: 403, body: { error: { code: 'FORBIDDEN' } } });
    expect(await signIn(code)).toMatchObject({ status: 200 });
  });

  it.each(['{"code":1}', '{}', 'code', '{"code":"x","more":1}'])('has to come as JSON, and not as %s', async (body) => {
    const headers = { origin: daemon.url, 'content-type': 'application/json' };
    const answer = await ask(new URL('/session', daemon.url), { method: 'POST', headers, body });
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'INVALID_REQUEST' } } });
  });

  it.each<[maker: Role, granted: readonly Role[]]>([
    ['viewer', ['viewer']],
    ['agent', ['agent']],
    ['operator', ['viewer', 'agent', 'operator']],
    ['admin', ROLE_NAMES],
  ])('of the role %s is for %j', async (role, granted) => {
    await using maker = await come(daemon.createToken(role, `maker-${role}`));
    for (const asked of ROLE_NAMES) {
      const answer = await maker.request('create_dashboard_link', { role: asked });
      if (granted.includes(asked)) expect(answer.role).toBe(asked);
      else expect(answer.error).toMatchObject({ code: 'FORBIDDEN', details: { granted } });
    }
  });
});

describe('a page', () => {
  it('owns what its maker owns, and nothing of it with a lower role', async () => {
    await using maker = await come(daemon.createToken('operator', 'owner'));
    const session_id = await maker.openSession();
    await using same = await come((await openPage(maker)).token);
    await using lower = await come((await openPage(maker, { role: 'agent' })).token);
    expect(await same.request('get_session', { session_id })).toHaveProperty('session_id', session_id);
    expect((await lower.request('get_session', { session_id })).error?.code).toBe('SESSION_NOT_FOUND');
    await maker.request('close_session', { session_id });
  });

  it('of a local program cannot decide as an operator; that of an operator can', async () => {
    await using agent = await come(daemon.createToken('agent', 'worker'));
    await using ofLocal = await come((await openPage(local)).token);
    await using operator = await come(daemon.createToken('operator', 'person'));
    await using ofOperator = await come((await openPage(operator)).token);
    const asked = agent.run('rm -f none', await agent.openSession());
    const { confirmation_id } = await ofOperator.event('confirmation_required');
    const decision = { confirmation_id, decision: 'approve', justification: 'looked at it' } as const;
    expect((await ofLocal.request('confirm_command', decision)).error?.code).toBe('FORBIDDEN');
    expect((await ofOperator.request('confirm_command', decision)).error).toBeUndefined();
    expect(await asked).toHaveProperty('exit_code', 0);
  });

  it('ends when it signs out, and only a page signs out', async () => {
    const { token } = await openPage(local);
    await using page = await come(token);
    expect((await signOut(token)).status).toBe(204);
    expect(await page.event('access_ended')).toEqual({ message: 'the page was signed out' });
    expect((await signOut(token)).status).toBe(401);
    expect((await signOut(daemon.createToken('viewer', 'no-page'))).status).toBe(400);
  });

  it.each(['revoke', 'rotate'] as const)('ends with the token of its maker (%s)', async (end) => {
    await using maker = await come(daemon.createToken('operator', `ends-${end}`));
    const code = await makeCode(maker);
    await using page = await come((await openPage(maker, { role: 'viewer' })).token);
    daemon.tokens[end](`ends-${end}`);
    expect(await page.event('access_ended')).toEqual({
      message: expect.stringContaining(`the sign-in has ended with its token: the token ends-${end}`) as string,
    });
    expect((await signIn(code)).status).toBe(401);
  });
});

it('is recorded, and neither code nor secret is in any file', async () => {
  await using auditor = await come(daemon.createToken('admin', 'auditor'));
  const { records } = await auditor.request('read_audit', { limit: 500 });
  const events = records.map(({ event }) => event);
  expect(events).toContain('page_signed_in');
  expect(events).toContain('page_signed_out');
  const made = records.filter(({ request }) => request === 'create_dashboard_link');
  expect(made.map(({ outcome }) => outcome)).toContain('ok');
  const files = readdirSync(daemon.directory, { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const texts = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1'));
  for (const text of [daemon.output, ...texts]) expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  expect(secrets.length).toBeGreaterThan(8);
});

it('wrong codes are counted as wrong tokens are', async () => {
  const answers = [];
  for (let count = 0; count < 8; count += 1) answers.push((await signIn(`wrong-${count}`)).status);
  expect(answers).toContain(401);
  expect(answers.at(-1)).toBe(429);
  // A right one counts all the same.
  expect((await signIn(await makeCode(local))).status).toBe(200);
});

it('where no connection needs a token, the own page needs none; with the dashboard off there are no links', async () => {
  await using open = await TestDaemon.startCold({ settings: { auth: { mode: 'none' }, http: { dashboard: false } } });
  const browser = { origin: open.url, 'user-agent': 'Mozilla/5.0', 'sec-fetch-site': 'same-origin' };
  const handshake = (headers: Record<string, string>) =>
    ask(new URL('/socket.io/?EIO=4&transport=polling', open.url), { headers });
  expect((await handshake(browser)).status).toBe(200);
  expect((await handshake({ ...browser, origin: 'http://127.0.0.1:1' })).status).toBe(403);
  expect((await ask(open.url)).status).toBe(404);
  await using client = await WireClient.connect(open.url);
  expect((await client.request('create_dashboard_link')).error?.message).toContain('switched off');
});
