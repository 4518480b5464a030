import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { ask } from '../../support/http.js';
import { WireClient } from '../../support/wire.js';

/** As what a proxy forwards: from this machine, and yet not of this user. */
const FOREIGN = { 'x-forwarded-for': '192.0.2.1' };

async function tryToConnect(url: string, options: Parameters<typeof WireClient.connect>[2]): Promise<string> {
  try {
    await using client = await WireClient.connect(url, ['polling'], options);
    return client.socket.connected ? 'in' : 'out';
  } catch (error) {
    return (error as { readonly data?: { readonly code: string } }).data?.code ?? 'refused';
  }
}

describe('wrong tokens', () => {
  let daemon: TestDaemon;
  let token: string;

  beforeAll(async () => {
    daemon = await TestDaemon.startCold();
    token = daemon.createToken('agent', 'honest');
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  it('are too many after five within a minute; a right one from the same address is accepted all the same', async () => {
    expect(await tryToConnect(daemon.url, { headers: FOREIGN })).toBe('UNAUTHORIZED');
    for (const outcome of [...Array.from({ length: 5 }, () => 'UNAUTHORIZED'), 'RATE_LIMITED', 'RATE_LIMITED']) {
      expect(await tryToConnect(daemon.url, { headers: FOREIGN, token: 'sat_wrong' })).toBe(outcome);
    }
    expect(await tryToConnect(daemon.url, { headers: FOREIGN, token })).toBe('in');
    expect(await tryToConnect(daemon.url, { headers: FOREIGN, token: 'sat_wrong' })).toBe('RATE_LIMITED');
  });

  it('by HTTP are answered with 429 and the time to wait, a right one is accepted', async () => {
    const headers = (secret: string) => ({ ...FOREIGN, authorization: `Bearer ${secret}` });
    const url = `${daemon.url}/v1/tools`;
    const response = await fetch(url, { headers: headers('sat_wrong') });
    expect(response.status).toBe(429);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await response.json()).toMatchObject({
      error: { code: 'RATE_LIMITED', details: { retry_after_ms: expect.any(Number) as number } },
    });
    expect((await ask(url, { headers: headers(token) })).status).toBe(200);
  });

  it('of this user’s programs are counted apart, over a connection that stands too, and bar none that needs no token', async () => {
    const { text } = await ask(`${daemon.url}/socket.io/?EIO=4&transport=polling`);
    const { sid } = JSON.parse(text.slice(1)) as { sid: string };
    const url = `${daemon.url}/socket.io/?EIO=4&transport=polling&sid=${sid}`;
    let answers = '';
    for (let count = 0; count < 7; count += 1) {
      await ask(url, { method: 'POST', body: `40{"token":"sat_${count}"}` });
      answers += (await ask(url)).text;
    }
    expect(answers.match(/UNAUTHORIZED/g)).toHaveLength(5);
    expect(answers.match(/RATE_LIMITED/g)).toHaveLength(2);
    expect(await tryToConnect(daemon.url, {})).toBe('in');
    expect(await tryToConnect(daemon.url, { token })).toBe('in');
  });
});

describe('strangers', () => {
  it('may have some connections that have shown no token, which keep nobody else out', async () => {
    await using daemon = await TestDaemon.startCold({ settings: { socketio: { max_unfinished_per_peer: 5 } } });
    const begin = () => ask(`${daemon.url}/socket.io/?EIO=4&transport=polling`, { headers: FOREIGN });
    for (let count = 0; count < 5; count += 1) expect((await begin()).status).toBe(200);
    const { status, body } = await begin();
    expect({ status, body }).toMatchObject({
      status: 503,
      body: {
        error: {
          code: 'RESOURCE_EXHAUSTED',
          message: expect.stringContaining('5 connections of this user or address that have shown no token') as string,
        },
      },
    });
    expect(await tryToConnect(daemon.url, {})).toBe('in');
  });
});

describe('one-shot commands of a token', () => {
  it('are bounded like its sessions, and leave room to others', async () => {
    await using daemon = await TestDaemon.startCold({ settings: { auth: { max_sessions_per_token: 2 } } });
    const token = daemon.createToken('agent', 'busy');
    await using client = await WireClient.connect(daemon.url, ['websocket'], { token });
    const sleeping = ['one', 'two'];
    for (const command_id of sleeping) await client.run('sleep 60', undefined, { command_id, background: true });
    expect(await client.run('true')).toMatchObject({ error: { code: 'SESSION_LIMIT' } });
    await using local = await WireClient.connect(daemon.url);
    expect(await local.run('true')).toMatchObject({ exit_code: 0 });
    await client.request('signal_command', { command_id: 'one', signal: 'SIGKILL' });
    await client.request('wait_command', { command_id: 'one' });
    expect(await client.run('true')).toMatchObject({ exit_code: 0 });
    await client.request('signal_command', { command_id: 'two', signal: 'SIGKILL' });
  });
});
