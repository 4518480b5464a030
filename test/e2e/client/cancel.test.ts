import { getEventListeners } from 'node:events';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { type AdapterClient, type ClientCommand, type ClientSession, connect } from '../../../src/client/index.js';
import { lost, QUICK } from '../../support/network/broken-connection.js';
import { TestDaemon } from '../../support/daemon.js';
import { FlakyProxy } from '../../support/network/flaky-proxy.js';

let daemon: TestDaemon;
let proxy: FlakyProxy;
let client: AdapterClient;
let session: ClientSession;

beforeAll(async () => {
  daemon = await TestDaemon.start();
  proxy = await FlakyProxy.start(daemon.url);
});

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
});

beforeEach(async () => {
  client = await connect(proxy.url, QUICK);
  session = await client.openSession();
});

afterEach(async () => {
  await session.close();
  await client.close();
});

/** Waits for the first output of a command. */
async function firstOutput(command: ClientCommand): Promise<AsyncGenerator> {
  const chunks = command[Symbol.asyncIterator]();
  await chunks.next();
  return chunks;
}

const whatever = ['in a session', 'without one'] as const;
const placeOf = (where: (typeof whatever)[number]) => (where === 'in a session' ? session : client);

describe.each(whatever)('aborting a command %s', (where) => {
  test('ends it, and rejects with the reason once it has ended', async () => {
    const abort = new AbortController();
    const command = placeOf(where).execute('echo up; sleep 60', { stream: true, signal: abort.signal });
    const chunks = await firstOutput(command);
    abort.abort('enough');
    await expect(command).rejects.toBe('enough');
    await expect(chunks.next()).rejects.toBe('enough');
    expect(await command.wait()).toMatchObject({ status: 'interrupted', exit_code: 130 });
    expect(getEventListeners(abort.signal, 'abort')).toEqual([]);
  });

  test('urges and forces one that does not listen', async () => {
    const abort = new AbortController();
    const args = ['-c', 'trap "" INT TERM; echo up; while :; do sleep 0.1; done'];
    const command = placeOf(where).execute('bash', { args, stream: true, signal: abort.signal });
    await firstOutput(command);
    const began = performance.now();
    abort.abort(new Error('enough'));
    await expect(command).rejects.toThrow('enough');
    expect(performance.now() - began).toBeGreaterThan(1900);
    expect(await command.wait()).toMatchObject({ status: 'killed', exit_code: 137 });
  });

  test('in the background ends it too', async () => {
    const abort = new AbortController();
    const options = { background: true, stream: true, signal: abort.signal };
    const command = placeOf(where).execute('echo up; sleep 60', options);
    expect(await command).toMatchObject({ status: 'running' });
    const chunks = await firstOutput(command);
    const end = command.wait();
    abort.abort();
    expect(await end).toMatchObject({ status: 'interrupted' });
    await expect(chunks.next()).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('before it is sent keeps it from running', async () => {
    const file = `${daemon.directory}/never-${where.length}`;
    const aborted = placeOf(where).execute(`touch ${file}`, { signal: AbortSignal.abort('no') });
    await expect(aborted).rejects.toBe('no');
    const isLost = lost(client);
    proxy.refuse(true);
    proxy.cut();
    await isLost;
    const abort = new AbortController();
    const waiting = placeOf(where).execute(`touch ${file}`, { signal: abort.signal });
    abort.abort('no longer');
    await expect(waiting).rejects.toBe('no longer');
    proxy.refuse(false);
    expect(await client.execute(`ls ${file}`)).toMatchObject({ exit_code: 2 });
  });

  test('while the connection is lost ends it once that is back', async () => {
    const abort = new AbortController();
    const command = placeOf(where).execute('echo up; sleep 60', { stream: true, signal: abort.signal });
    await firstOutput(command);
    proxy.refuse(true);
    proxy.cut();
    abort.abort('enough');
    proxy.refuse(false);
    await expect(command).rejects.toBe('enough');
    expect(await command.wait()).toMatchObject({ status: 'interrupted' });
  });

  test('after its end changes nothing', async () => {
    const abort = new AbortController();
    const command = placeOf(where).execute('echo done', { signal: abort.signal });
    expect(await command).toMatchObject({ stdout: 'done\n' });
    abort.abort('late');
    expect(await command).toMatchObject({ stdout: 'done\n' });
  });

  test('rejects when the client is closed meanwhile', async () => {
    const abort = new AbortController();
    const command = placeOf(where).execute('trap "" INT; echo up; sleep 3', { stream: true, signal: abort.signal });
    await firstOutput(command);
    await using other = await connect(daemon.url);
    abort.abort('enough');
    await client.close();
    await expect(command).rejects.toBe('enough');
    client = other;
    session = await other.attachSession(session.id);
    await session.close();
    client = await connect(proxy.url);
    session = await client.openSession();
  });
});

test('a command that waits for its turn is cancelled at once, and never runs', async () => {
  const abort = new AbortController();
  const running = session.execute('echo up; read -r', { stream: true });
  await firstOutput(running);
  const file = `${daemon.directory}/queued`;
  const queued = session.execute(`touch ${file}`, { signal: abort.signal });
  const last = session.execute(`ls ${file}`);
  abort.abort('not needed');
  await expect(queued).rejects.toBe('not needed');
  expect((await running.wait({ forMs: 0 })).status).toBe('running');
  await session.sendInput('\n');
  expect(await last).toMatchObject({ exit_code: 2 });
});

test('cancel gives the result of what was ended', async () => {
  const command = session.execute('echo up; sleep 60', { stream: true });
  await firstOutput(command);
  expect(await command.cancel()).toMatchObject({ stdout: 'up\n', status: 'interrupted', exit_code: 130 });
  expect(await command.cancel()).toMatchObject({ status: 'interrupted' });
  expect(await session.execute('echo next')).toMatchObject({ stdout: 'next\n' });
});
