import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';
import { WireClient } from '../../support/wire.js';

/** More than a message may have. */
const LARGE = 'x'.repeat(2 * 1024 * 1024);

it('a token has its number of sessions, though many are opened at once; others have theirs', async () => {
  await using daemon = await TestDaemon.startCold({ settings: { auth: { max_sessions_per_token: 3 } } });
  const come = (name: string) =>
    WireClient.connect(daemon.url, ['websocket'], { token: daemon.createToken('agent', name) });
  await using a = await come('a');
  const answers = await Promise.all(Array.from({ length: 6 }, () => a.request('open_session')));
  const opened = answers.filter(({ error }) => !error).map(({ session_id: id }) => id);
  expect(opened).toHaveLength(3);
  expect(answers.find(({ error }) => error)?.error).toEqual({
    code: 'SESSION_LIMIT',
    message: 'this token has 3 sessions open already (max_sessions_per_token); close one',
    details: { max_sessions_per_token: 3 },
  });
  await a.request('close_session', { session_id: opened[0]! });
  expect((await a.request('open_session')).error).toBeUndefined();
  await using b = await come('b');
  expect((await b.request('open_session')).error).toBeUndefined();
  await using local = await WireClient.connect(daemon.url);
  for (let count = 0; count < 4; count += 1) expect((await local.request('open_session')).error).toBeUndefined();
});

it('a token has its number of requests, over all its connections; others have theirs', async () => {
  await using daemon = await TestDaemon.startCold({ settings: { auth: { requests_per_second: 5 } } });
  const token = daemon.createToken('agent', 'busy');
  await using a = await WireClient.connect(daemon.url, ['websocket'], { token });
  await using again = await WireClient.connect(daemon.url, ['polling'], { token });
  const ask = (client: WireClient) => client.request('list_sessions');
  const answers = await Promise.all(Array.from({ length: 20 }, (_, index) => ask(index % 2 === 0 ? a : again)));
  const refused = answers.flatMap(({ error }) => (error ? [error] : []));
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]).toMatchObject({ code: 'RATE_LIMITED', details: { retry_after_ms: expect.any(Number) as number } });
  expect((refused[0]!.details as { retry_after_ms: number }).retry_after_ms).toBeLessThanOrEqual(200);
  await using b = await WireClient.connect(daemon.url, ['websocket'], { token: daemon.createToken('agent', 'calm') });
  expect((await ask(b)).error).toBeUndefined();
  await using local = await WireClient.connect(daemon.url);
  const others = await Promise.all(Array.from({ length: 50 }, () => ask(local)));
  expect(others.every(({ error }) => !error)).toBe(true);
  // What is refused without a look counts too, and a message as its size.
  for (const send of [
    () => b.socket.emitWithAck('no_such_request', {}),
    () => b.socket.emitWithAck('list_sessions', { x: LARGE }),
  ]) {
    const replies = (await Promise.all(Array.from({ length: 20 }, send))) as { error: { code: string } }[];
    expect(replies.map(({ error }) => error.code)).toContain('RATE_LIMITED');
  }
  // The limit is the configuration's, also when that is read again: so high that what has been used is back at once.
  const file = join(daemon.directory, 'config.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace('requests_per_second: 5', 'requests_per_second: 100000'));
  daemon.signal('SIGHUP');
  await eventually(async () => {
    const many = await Promise.all(Array.from({ length: 40 }, () => ask(a)));
    expect(many.filter(({ error }) => error)).toEqual([]);
  });
});
