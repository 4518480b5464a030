import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type CommandResult, connect } from '../../../src/client/index.js';
import { breakOften, lost, QUICK, restored } from '../../support/network/broken-connection.js';
import { TestDaemon } from '../../support/daemon.js';
import { FlakyProxy } from '../../support/network/flaky-proxy.js';
import { seededRandom } from '../../support/seeded-random.js';

let daemon: TestDaemon;
let proxy: FlakyProxy;

beforeAll(async () => {
  daemon = await TestDaemon.start();
  proxy = await FlakyProxy.start(daemon.url);
});

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
});

describe('J1: a client that loses its connection', () => {
  test.each(['in a session', 'without one'])('gets the result of a command that ended meanwhile, %s', async (where) => {
    await using client = await connect(proxy.url, QUICK);
    await using session = where === 'in a session' ? await client.openSession() : undefined;
    const file = join(daemon.directory, `ended-${session ? 's' : 'o'}`);
    const command = (session ?? client).execute(`echo run >> ${file}; cat ${file}; sleep 0.1; echo end >> ${file}`);
    while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 5));
    proxy.refuse(true);
    proxy.cut();
    while (!readFileSync(file, 'utf8').includes('end')) await new Promise((resolve) => setTimeout(resolve, 5));
    proxy.refuse(false);
    expect(await command).toMatchObject({ stdout: 'run\n', exit_code: 0 });
    expect(readFileSync(file, 'utf8')).toBe('run\nend\n');
  });
});

describe('over a connection that breaks all the time', () => {
  test('every command runs once, and has its result', async () => {
    await using client = await connect(proxy.url, QUICK);
    const session = await client.openSession();
    const file = join(daemon.directory, 'counted');
    const random = seededRandom(17);
    const abort = new AbortController();
    const breaking = (async () => {
      while (!abort.signal.aborted) await breakOften(1, { client, proxy, random, bytes: 1000 });
    })();
    const results: CommandResult[] = [];
    for (let i = 0; i < 150; i++) {
      const where = i % 2 === 0 ? session : client;
      results.push(await where.execute(`echo ${i} >> ${file}; echo ${i}`));
    }
    abort.abort();
    // The last break may wait for bytes.
    await Promise.all([breaking, client.metadata()]);
    const numbers = Array.from({ length: 150 }, (_, i) => `${i}\n`);
    expect(results.map(({ stdout }) => stdout)).toEqual(numbers);
    expect(readFileSync(file, 'utf8')).toBe(numbers.join(''));
    await session.close();
  });

  test('input is never typed twice: what may have arrived is rejected', async () => {
    await using client = await connect(proxy.url, QUICK);
    await using session = await client.openSession();
    const command = session.execute('head -n 1');
    await new Promise((resolve) => session.on('awaiting_input', resolve));
    proxy.silence(true);
    const input = session.sendInput('one\n');
    const again = restored(client);
    proxy.cut();
    proxy.silence(false);
    await expect(input).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    await again;
    await session.sendInput('two\n');
    expect(await command).toMatchObject({ stdout: 'two\n' });
  });

  test('a request made without a connection waits for the next one', async () => {
    await using client = await connect(proxy.url, QUICK);
    await using session = await client.openSession();
    proxy.refuse(true);
    const isLost = lost(client);
    proxy.cut();
    await isLost;
    expect(client.isConnected).toBe(false);
    const result = session.execute('echo later');
    const sessions = client.listSessions();
    proxy.refuse(false);
    expect(await result).toMatchObject({ stdout: 'later\n' });
    expect((await sessions).map(({ session_id }) => session_id)).toContain(session.id);
  });

  test('a first command that was lost on its way is not run again behind anybody’s back', async () => {
    await using client = await connect(proxy.url, QUICK);
    proxy.silence(true);
    const command = client.execute('echo x');
    proxy.cut();
    proxy.silence(false);
    await expect(command).rejects.toMatchObject({ code: 'CONNECTION_LOST' });
    expect(await client.execute('echo y')).toMatchObject({ stdout: 'y\n' });
  });
});

test('J3: two viewers get the same events under the same numbers', async () => {
  await using owner = await connect(proxy.url, QUICK);
  await using session = await owner.openSession();
  const viewers = await Promise.all([connect(daemon.url), connect(proxy.url, QUICK)]);
  const seen = await Promise.all(
    viewers.map(async (viewer) => {
      const events: unknown[] = [];
      viewer.on('command_output', (event) => events.push(event));
      await viewer.attachSession(session.id, { fromSeq: 0 });
      return events;
    }),
  );
  const random = seededRandom(3);
  for (let i = 0; i < 20; i++) {
    await session.execute('for i in 1 2 3; do echo o$i; echo e$i >&2; done', { stream: true });
    if (random() < 0.5) {
      const again = Promise.all([owner, viewers[1]].map(restored));
      proxy.cut();
      await again;
    }
  }
  // An answer comes after the events before it.
  await Promise.all(viewers.map((viewer) => viewer.listSessions()));
  expect(seen[0]!.length).toBeGreaterThanOrEqual(40);
  expect(seen[1]).toEqual(seen[0]);
  const late: unknown[] = [];
  await using third = await connect(daemon.url);
  third.on('command_output', (event) => late.push(event));
  third.on('output_gap', ({ to_seq }) => late.push(...seen[0]!.slice(0, to_seq + 1)));
  await third.attachSession(session.id, { fromSeq: 0 });
  expect(late).toEqual(seen[0]);
  await Promise.all(viewers.map((viewer) => viewer.close()));
});
