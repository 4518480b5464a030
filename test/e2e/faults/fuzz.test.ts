import fc from 'fast-check';
import { describe, expect } from 'vitest';

import { requests } from '../../../src/core/protocol/requests.js';
import { daemonTest } from '../../support/daemon-test.js';
import { TestDaemon } from '../../support/daemon.js';
import { fuzzedRequests } from '../../fuzz/protocol/requests.js';
import { instanceOf, taggedProcesses } from '../../support/processes.js';
import { WireClient } from '../../support/wire.js';

/** The same requests each time. */
const SEED = 20_240_601;

const OPTIONS = { settings: { adapter: { command_max_lifetime: 2, max_sessions: 32 } } };
const it = daemonTest(OPTIONS);

/** What tells a fault in the daemon: it has died, said so on stderr, or noted an unexpected failure. */
function expectHealthy(daemon: TestDaemon): void {
  expect(daemon.output).not.toMatch(/unhandled|uncaught|TypeError|failed unexpectedly/i);
}

describe('F23: payloads that make no sense', () => {
  it('F23: without a callback: the answer comes as an event, with the request_id', async () => {
    // Of its own: some of the requests are understood.
    await using daemon = await TestDaemon.start(OPTIONS);
    await using client = await WireClient.connect(daemon.url);
    // The fuzzer of test/fuzz/protocol sends many more of them.
    for (const { name, args } of fc.sample(fuzzedRequests, { seed: SEED, numRuns: 500 }))
      client.socket.emit(name, ...args);
    client.socket.emit('get_session', { session_id: 'none', request_id: { last: true } });
    const answer = await client.until(() =>
      client.events.find(({ name, payload }) => name === 'get_session_result' && isLast(payload)),
    );
    expect(answer.payload).toMatchObject({ error: { code: 'SESSION_NOT_FOUND' }, request_id: { last: true } });
    expectHealthy(daemon);
  });

  it.for([
    ['__proto__ in a payload', '42["open_session",{"__proto__":{"cwd":"/nonexistent"}}]'],
    ['constructor in a payload', '42["open_session",{"constructor":{"prototype":{"polluted":1}}}]'],
    ['__proto__ as a variable', '42["execute_command",{"command":"true","env":{"__proto__":"x"}}]'],
    ['10,000 levels of arrays', `42["open_session",${'['.repeat(10_000)}${']'.repeat(10_000)}]`],
    ['10,000 levels of objects', `42["open_session",${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}]`],
    ['an event that is no text', '42[1,{}]'],
    ['no event at all', '42[]'],
    ['half of a packet', '42["open_session",{'],
    ['no JSON', '42not json'],
    ['an acknowledgement nobody asked for', '4399[1]'],
    ['an attachment that never comes', '451-["open_session",{"_placeholder":true,"num":0}]'],
    ['a number of attachments beyond sense', '45999999999-["open_session",{}]'],
    ['an unknown packet type', '49'],
    ['a reserved event', '42["disconnect",{}]'],
    ['another namespace', '40/admin,{}'],
  ] as const)('F23: a raw packet with %s does nothing to other connections', async ([, packet], { daemon, client }) => {
    const witness = await client.openSession();
    await using sender = await WireClient.connect(daemon.url);
    const { engine } = sender.socket.io;
    (engine.transport as unknown as { ws: { send(data: string): void } }).ws.send(packet);
    // Either the daemon closes the connection or it still answers on it.
    await new Promise<void>((resolve) => {
      sender.socket.once('disconnect', () => {
        resolve();
      });
      sender.request('list_sessions', {}).then(
        () => {
          resolve();
        },
        () => undefined,
      );
    });
    expect(await client.run('echo here', witness)).toMatchObject({ stdout: 'here\n' });
    await client.request('close_session', { session_id: witness });
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expectHealthy(daemon);
  });

  it('F23: a message over max_message_bytes is refused, and its connection goes on', async ({ daemon, client }) => {
    const id = await client.openSession();
    const { error } = await client.request('execute_command', {
      command: `: ${'x'.repeat(1_200_000)}`,
      session_id: id,
    });
    expect(error?.code).toBe('PAYLOAD_TOO_LARGE');
    expect(await client.run('echo here', id)).toMatchObject({ stdout: 'here\n', session_state: 'alive' });
    expectHealthy(daemon);
  });

  it('F23: a frame of 9 MB is over what is read: that connection is closed, everything else goes on', async ({
    daemon,
    client,
  }) => {
    await using sender = await WireClient.connect(daemon.url);
    const id = await sender.openSession();
    const closed = new Promise((resolve) => sender.socket.once('disconnect', resolve));
    sender.socket.emit('execute_command', { command: `: ${'x'.repeat(9 * 1024 * 1024)}`, session_id: id });
    await closed;
    await client.request('attach_session', { session_id: id });
    expect(await client.run('echo here', id)).toMatchObject({ stdout: 'here\n', session_state: 'alive' });
    expectHealthy(daemon);
  });

  it('F23: 900 KB are not', async ({ client }) => {
    const id = await client.openSession();
    const text = 'x'.repeat(900_000);
    expect(await client.run(`: ${text}\necho done`, id)).toMatchObject({ stdout: 'done\n', exit_code: 0 });
    expect(await client.run('wc -c', id, { stdin: text })).toMatchObject({ stdout: '900000\n' });
  });
});

describe('F32: nothing that a client does makes a promise fail unseen', () => {
  it('F32: clients that vanish in the middle of every kind of request', async ({ daemon, client }) => {
    const instance = instanceOf(daemon.pid);
    const witness = await client.openSession();
    // Prints without an end, and leaves the processors to others.
    const printing = "sh -c 'while echo y; do sleep 0.005; done; : printing'";
    for (const name of Object.keys(requests)) {
      const vanishing = await WireClient.connect(daemon.url);
      const id = await vanishing.openSession();
      const { command_id } = await vanishing.run(printing, id, { background: true, stream: true });
      const target = { session_id: id, command_id, command: 'echo x', data: 'x', signal: 'SIGINT', cols: 80, rows: 24 };
      const keys = Object.keys(requests[name as keyof typeof requests].input.shape);
      const payload = Object.fromEntries(Object.entries(target).filter(([key]) => keys.includes(key)));
      vanishing.socket.emit(name, payload, () => undefined);
      await vanishing[Symbol.asyncDispose]();
      await client.request('close_session', { session_id: id });
    }
    expect(await client.run('echo here', witness)).toMatchObject({ stdout: 'here\n', session_state: 'alive' });
    expect(taggedProcesses(instance).filter(({ command }) => command.includes(': printing'))).toEqual([]);
    expectHealthy(daemon);
  });
});

const isLast = (payload: unknown): boolean => JSON.stringify(payload).includes('"request_id":{"last":true}');
