import { describe, expect, it } from 'vitest';

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

describe('guessing', () => {
  it('is slow: after five wrong tokens an address has to wait, with a right one too; this user’s programs need not', async () => {
    await using daemon = await TestDaemon.start();
    const token = daemon.createToken('agent', 'honest');
    expect(await tryToConnect(daemon.url, { headers: FOREIGN })).toBe('UNAUTHORIZED');
    for (let count = 0; count < 5; count += 1) {
      expect(await tryToConnect(daemon.url, { headers: FOREIGN, token: `sat_${count}` })).toBe('UNAUTHORIZED');
    }
    expect(await tryToConnect(daemon.url, { headers: FOREIGN, token })).toBe('refused');
    const { status, text } = await ask(`${daemon.url}/socket.io/?EIO=4&transport=polling`, { headers: FOREIGN });
    expect(status).toBe(403);
    expect(text).toMatch(/too many wrong tokens have come from this address; wait \d+ s/);
    expect(await tryToConnect(daemon.url, {})).toBe('in');
    expect(await tryToConnect(daemon.url, { token })).toBe('in');
  });

  it('cannot be done over a connection that stands', async () => {
    await using daemon = await TestDaemon.start();
    const options = { headers: FOREIGN };
    const sid = async () => {
      const { text } = await ask(`${daemon.url}/socket.io/?EIO=4&transport=polling`, options);
      return (JSON.parse(text.slice(1)) as { sid: string }).sid;
    };
    const url = `${daemon.url}/socket.io/?EIO=4&transport=polling&sid=${await sid()}`;
    let answers = '';
    for (let count = 0; count < 7; count += 1) {
      await ask(url, { ...options, method: 'POST', body: `40{"token":"sat_${count}"}` });
      answers += (await ask(url, options)).text;
    }
    expect(answers.match(/UNAUTHORIZED/g)).toHaveLength(5);
    expect(answers.match(/RATE_LIMITED/g)).toHaveLength(2);
  });
});

describe('strangers', () => {
  it('may have fifty connections that have shown no token, which keep this user’s programs from nothing', async () => {
    await using daemon = await TestDaemon.start();
    const begin = () => ask(`${daemon.url}/socket.io/?EIO=4&transport=polling`, { headers: FOREIGN });
    for (let count = 0; count < 50; count += 1) expect((await begin()).status).toBe(200);
    const { status, text } = await begin();
    expect({ status, text }).toMatchObject({
      status: 403,
      text: expect.stringContaining('50 connections that have shown no token') as string,
    });
    expect(await tryToConnect(daemon.url, {})).toBe('in');
  });
});

describe('one-shot commands of a token', () => {
  it('are bounded like its sessions, and leave room to others', async () => {
    await using daemon = await TestDaemon.start({ settings: { auth: { max_sessions_per_token: 2 } } });
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
