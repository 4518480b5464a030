import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, statSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { makeCertificate } from '../../support/network/certificate.js';
import { TestDaemon } from '../../support/daemon.js';
import { WireClient } from '../../support/wire.js';
import { makeFolder } from '../cli/support.js';

const TRANSPORTS = ['websocket', 'polling'] as const;

/** Connects and leaves again; gives `in`, or the code or message of the refusal. */
async function tryToConnect(
  url: string,
  ...options: Parameters<typeof WireClient.connect> extends [string, ...infer Rest] ? Rest : never
) {
  try {
    await using client = await WireClient.connect(url, ...options);
    expect(client.socket.connected).toBe(true);
    return 'in';
  } catch (error) {
    const { data, message } = error as Error & { readonly data?: { readonly code: string } };
    return data?.code ?? message;
  }
}

/** The status and body of the plain request that begins a connection. */
async function beginPolling(url: string, headers: Record<string, string>): Promise<{ status: number; body: string }> {
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    request(`${url}/socket.io/?EIO=4&transport=polling`, { headers }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, body });
      });
    })
      .on('error', reject)
      .end();
  });
}

describe('the first start', () => {
  it('makes one token of the role admin, whose secret only this user can read, and no second one later', async () => {
    const daemon = await TestDaemon.startCold();
    const { tokens } = daemon;
    const secret = tokens.readFirstSecret()!;
    expect(secret).toMatch(/^sat_[\w-]{43}$/);
    expect(statSync(tokens.firstSecretFile).mode & 0o777).toBe(0o600);
    expect(statSync(tokens.directory).mode & 0o777).toBe(0o700);
    const [file, ...others] = readdirSync(tokens.directory);
    expect(others).toEqual([]);
    const stored = readFileSync(join(tokens.directory, file!), 'utf8');
    expect(stored).not.toContain(secret.slice(4));
    expect(JSON.parse(stored)).toMatchObject({
      role: 'admin',
      expires_at: null,
      sha256: createHash('sha256').update(secret).digest('hex'),
    });
    expect(statSync(join(tokens.directory, file!)).mode & 0o777).toBe(0o600);
    tokens.revoke('first');
    await daemon.stop();
    expect(readFileSync(join(daemon.directory, 'log'), 'utf8')).not.toContain(secret.slice(4));
    await using again = await TestDaemon.startCold({}, daemon.directory);
    expect(again.tokens.read()).toEqual({ tokens: [], problems: [] });
  });

  it('whose secret cannot be kept is none: the next start makes one', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'shell-adapter-test-'));
    const obstacle = join(directory, 'state/token');
    mkdirSync(obstacle, { recursive: true });
    await expect(TestDaemon.startCold({}, directory)).rejects.toThrow('EISDIR');
    expect(readdirSync(join(directory, 'state')).filter((name) => name.startsWith('token'))).toEqual(['token']);
    rmdirSync(obstacle);
    await using daemon = await TestDaemon.startCold({}, directory);
    expect(daemon.tokens.readFirstSecret()).toMatch(/^sat_/);
  });
});

describe.each(TRANSPORTS)('with auth.mode auto, by %s', (transport) => {
  let daemon: TestDaemon;
  let token: string;

  // Of its own for each: after five wrong tokens there is another answer.
  beforeAll(async () => {
    const socketio = { cors_allowed_origins: ['https://dashboard.example'], allowed_hosts: ['adapter.example'] };
    daemon = await TestDaemon.startCold({ settings: { socketio } });
    token = daemon.createToken('agent', 'page');
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  const come = (headers: Record<string, string>, shown?: unknown) =>
    tryToConnect(daemon.url, [transport], { headers, token: shown });

  const PAGE = 'https://dashboard.example';

  it.each([
    ['a program of this user without a token', {}, 'in'],
    ['it, calling the daemon by the name of a proxy', { host: 'adapter.example:443' }, 'in'],
    ['a page without a token', { origin: PAGE }, 'UNAUTHORIZED'],
    ['what a proxy forwards, without a token', { 'x-forwarded-for': '192.0.2.1' }, 'UNAUTHORIZED'],
    ['what a proxy forwards, by the standard', { forwarded: 'for=192.0.2.1' }, 'UNAUTHORIZED'],
    ['what a proxy forwards, by its own header', { 'cf-connecting-ip': '192.0.2.1' }, 'UNAUTHORIZED'],
    ['what a proxy forwards, by the host alone', { 'x-forwarded-host': 'adapter.example' }, 'UNAUTHORIZED'],
    ['what a page causes without an origin', { 'sec-fetch-site': 'cross-site' }, 'UNAUTHORIZED'],
  ])('%s: %j is %s', async (_who, headers, outcome) => {
    expect(await come(headers)).toBe(outcome);
  });

  it('a page or a proxy with a token is let in', async () => {
    expect(await come({ origin: PAGE }, token)).toBe('in');
    expect(await come({ 'x-forwarded-for': '192.0.2.1' }, token)).toBe('in');
  });

  it.each([
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `${PAGE}.evil.example` },
    { host: 'evil.example' },
    { host: '127.0.0.1.evil.example:8087' },
    { host: '192.0.2.7' },
  ])('a request with %j is refused, whatever token it has', async (headers) => {
    // By polling, the client's own library sets the host.
    if (transport === 'websocket' || headers.origin !== undefined) expect(await come(headers, token)).not.toBe('in');
    const { status, body } = await beginPolling(daemon.url, headers);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(body).toMatch(/socketio\.(allowed_hosts|cors_allowed_origins)/);
  });

  it.each([['sat_wrong'], [''.padEnd(47, 'x')], [7], [{}], [true]])(
    'the token %j is refused, though none at all would do',
    async (wrong) => {
      expect(await come({}, wrong)).toBe('UNAUTHORIZED');
    },
  );

  it('a token in the URL or a cookie counts for nothing', async () => {
    const headers = { origin: PAGE, cookie: `token=${token}`, authorization: `Bearer ${token}` };
    expect(await tryToConnect(`${daemon.url}?token=${token}`, [transport], { headers })).toBe('UNAUTHORIZED');
  });

  it.skipIf(process.getuid!() !== 0)('a program of another user needs a token', () => {
    const script = `
      import { io } from ${JSON.stringify(import.meta.resolve('socket.io-client'))};
      const socket = io(process.argv[1], {
        transports: [process.argv[2]], reconnection: false, auth: process.argv[3] ? { token: process.argv[3] } : {},
      });
      const say = (text) => process.stdout.write(text, () => process.exit());
      socket.on('connect', () => say('in'));
      socket.on('connect_error', (error) => say(error.data?.code ?? error.message));
    `;
    const other = (shown: string[]) =>
      execFileSync(process.execPath, ['--input-type=module', '-e', script, daemon.url, transport, ...shown], {
        uid: 12_345,
        gid: 12_345,
        encoding: 'utf8',
        cwd: '/',
      });
    expect(other([])).toBe('UNAUTHORIZED');
    expect(other([token])).toBe('in');
  });
});

describe('requests of a connection that stands already', () => {
  it('are refused when they come for another host or from another page', async () => {
    await using daemon = await TestDaemon.startCold({ settings: { socketio: { cors_allowed_origins: [] } } });
    const { body } = await beginPolling(daemon.url, {});
    const { sid } = JSON.parse(body.slice(1)) as { sid: string };
    for (const headers of [{ host: 'evil.example' }, { origin: 'https://evil.example' }]) {
      const { request } = await import('node:http');
      const status = await new Promise((resolve) => {
        request(
          `${daemon.url}/socket.io/?EIO=4&transport=polling&sid=${sid}`,
          { method: 'POST', headers },
          (response) => {
            response.resume();
            resolve(response.statusCode);
          },
        ).end('40');
      });
      expect(status).toBe(400);
    }
  });
});

describe('the other modes', () => {
  it('token: programs of this user need one too', async () => {
    await using daemon = await TestDaemon.startCold({ settings: { auth: { mode: 'token' } } });
    expect(await tryToConnect(daemon.url)).toBe('UNAUTHORIZED');
    expect(await tryToConnect(daemon.url, ['websocket'], { token: daemon.tokens.readFirstSecret() })).toBe('in');
  });

  it('none: everybody on this machine is let in, and no page', async () => {
    await using daemon = await TestDaemon.startCold({ settings: { auth: { mode: 'none' } } });
    expect(await tryToConnect(daemon.url)).toBe('in');
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    expect(await tryToConnect(daemon.url, ['polling'], { headers })).toBe('UNAUTHORIZED');
    const { status, body } = await beginPolling(daemon.url, { origin: 'https://page.example' });
    expect({ status, body }).toMatchObject({ status: 403, body: expect.stringContaining('auth.mode none') as string });
  });
});

describe('pages of any origin, by default', () => {
  it('may read answers when they show a token; cookies are never asked for', async () => {
    await using daemon = await TestDaemon.startCold();
    const response = await fetch(`${daemon.url}/socket.io/?EIO=4&transport=polling`, {
      headers: { origin: 'https://a.example' },
    });
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    await response.text();
    const token = daemon.createToken('viewer', 'page');
    expect(await tryToConnect(daemon.url, ['polling'], { headers: { origin: 'https://a.example' }, token })).toBe('in');
  });
});

describe('other machines', () => {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const outer = addresses.find(({ internal, family }) => !internal && family === 'IPv4')?.address;

  it.skipIf(outer === undefined)('need a token, and take any address of this one as host', async () => {
    const socketio = { host: '0.0.0.0', insecure_transport: true };
    await using daemon = await TestDaemon.startCold({ settings: { socketio } });
    const url = `http://${outer!}:${new URL(daemon.url).port}`;
    expect(await tryToConnect(url)).toBe('UNAUTHORIZED');
    expect(await tryToConnect(url, ['websocket'], { token: daemon.tokens.readFirstSecret() })).toBe('in');
    expect(await tryToConnect(url.replace(outer!, '127.0.0.1'))).toBe('in');
    expect((await beginPolling(url, { host: 'evil.example' })).status).toBe(403);
  });

  it('are served over TLS', async () => {
    using folder = makeFolder();
    const { key, cert } = makeCertificate(folder.path);
    await using secure = await TestDaemon.startCold({
      settings: { socketio: { host: '0.0.0.0', tls: { cert, key } } },
    });
    expect(secure.url).toMatch(/^https:/);
    const url = secure.url.replace('0.0.0.0', '127.0.0.1');
    const main = join(import.meta.dirname, '../../../dist/main.js');
    const exec = spawnSync(process.execPath, [main, 'exec', '--url', url, '--no-stdin', 'echo over TLS'], {
      env: { ...process.env, NODE_EXTRA_CA_CERTS: cert },
      encoding: 'utf8',
    });
    expect(exec).toMatchObject({ status: 0, stdout: 'over TLS\n' });
  });
});
