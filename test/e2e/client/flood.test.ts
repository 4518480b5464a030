import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { connect, type EventPayload } from '../../../src/client/index.js';
import { assemble, breakOften, QUICK, restored } from '../../support/network/broken-connection.js';
import { TestDaemon } from '../../support/daemon.js';
import { FlakyProxy } from '../../support/network/flaky-proxy.js';
import { rounds } from '../../support/rounds.js';
import { seededRandom } from '../../support/seeded-random.js';

/** Prints numbered lines to both streams, in bursts, until a file appears; then tells how many rounds there were. */
const flood = (stopFile: string, lines: number) =>
  `n=0; until [ -e ${stopFile} ]; do seq $((n*${lines})) $((n*${lines}+${lines - 1})); echo "é$n" >&2; n=$((n+1)); sleep 0.01; done; echo $n > ${stopFile}.rounds`;

function expectedFlood(stopFile: string, lines: number): { stdout: string; stderr: string } {
  const rounds = Number(readFileSync(`${stopFile}.rounds`, 'utf8'));
  const numbers = Array.from({ length: rounds * lines }, (_, i) => `${i}\n`);
  return { stdout: numbers.join(''), stderr: Array.from({ length: rounds }, (_, i) => `é${i}\n`).join('') };
}

/** Compares without printing megabytes when it fails. */
function expectSame(actual: string, expected: string): void {
  expect(actual.length).toBe(expected.length);
  expect(actual === expected).toBe(true);
}

let daemon: TestDaemon;
let proxy: FlakyProxy;

beforeAll(async () => {
  // A small replay budget, so that it overflows too.
  daemon = await TestDaemon.start({ settings: { adapter: { replay_kb: 16 } } });
  proxy = await FlakyProxy.start(daemon.url);
});

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
});

/** Connections that break during a flood. */
const BREAKS = rounds(100, 40);

describe(`F6: the output of a flood, through ${BREAKS} broken connections, is exact`, () => {
  test.each([
    { where: 'in a session', lines: 1500 },
    { where: 'without a session', lines: 1500 },
    { where: 'in a session, with few lines', lines: 3 },
  ])('$where', async ({ where, lines }) => {
    await using client = await connect(proxy.url, QUICK);
    const session = where.startsWith('in') ? await client.openSession() : undefined;
    const stopFile = join(daemon.directory, `stop-${lines}-${session ? 's' : 'o'}`);
    // Of an attempt that has failed.
    rmSync(stopFile, { force: true });
    const command = (session ?? client).execute(flood(stopFile, lines), { stream: true });
    const assembled = assemble(command);
    await breakOften(BREAKS, { client, proxy, random: seededRandom(lines), bytes: 10 * lines });
    writeFileSync(stopFile, '');
    const [assembly, result] = await Promise.all([assembled, command]);
    const expected = expectedFlood(stopFile, lines);
    expectSame(assembly.stdout, expected.stdout);
    expectSame(assembly.stderr, expected.stderr);
    expect(result).toMatchObject({ exit_code: 0, stdout_bytes: expected.stdout.length });
    await session?.close();
  });
});

describe('J1: a client that loses its connection', () => {
  test('gets what it missed once and in order, and the result', async () => {
    await using client = await connect(proxy.url, QUICK);
    await using session = await client.openSession();
    const seqs: number[] = [];
    session.on('command_output', ({ seq }) => seqs.push(seq));
    const stopFile = join(daemon.directory, 'stop-j1');
    rmSync(stopFile, { force: true });
    const command = session.execute(flood(stopFile, 1), { stream: true });
    const assembled = assemble(command);
    await new Promise((resolve) => session.on('command_output', resolve));
    const again = restored(client);
    proxy.cut();
    await again;
    writeFileSync(stopFile, '');
    const assembly = await assembled;
    expectSame(assembly.stdout, expectedFlood(stopFile, 1).stdout);
    expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, i) => i));
  });

  test('is told of events that are no longer kept, and its commands’ output is whole all the same', async () => {
    await using client = await connect(proxy.url, QUICK);
    await using session = await client.openSession();
    const gaps: EventPayload<'output_gap'>[] = [];
    const seqs: number[] = [];
    session.on('output_gap', (gap) => gaps.push(gap));
    session.on('command_output', ({ seq }) => seqs.push(seq));
    const command = session.execute('echo up; read -r; seq 100000; echo done; read -r', { stream: true });
    const assembled = assemble(command);
    await new Promise((resolve) => session.on('command_output', resolve));
    proxy.refuse(true);
    const again = restored(client);
    proxy.cut();
    await using other = await connect(daemon.url);
    const viewer = await other.attachSession(session.id);
    const done = new Promise<void>((resolve) => {
      viewer.on('command_output', ({ data }) => {
        if (String(data).endsWith('done\n')) resolve();
      });
    });
    await viewer.sendInput('\n');
    await done;
    proxy.refuse(false);
    await again;
    await session.sendInput('\n');
    const assembly = await assembled;
    const numbers = Array.from({ length: 100_000 }, (_, i) => `${i + 1}\n`).join('');
    expectSame(assembly.stdout, `up\n${numbers}done\n`);
    expect(gaps).toHaveLength(1);
    const missing = gaps.flatMap(({ from_seq, to_seq }) =>
      Array.from({ length: to_seq - from_seq + 1 }, (_, i) => from_seq + i),
    );
    const all = [...seqs, ...missing].sort((a, b) => a - b);
    expect(all).toEqual(Array.from({ length: all.length }, (_, i) => i));
  });

  test('gets output that came in the gap though nothing is printed any more', async () => {
    await using client = await connect(proxy.url, QUICK);
    await using session = await client.openSession();
    const command = session.execute('echo up; read -r; seq 20000; read -r', { stream: true });
    const chunks = command[Symbol.asyncIterator]();
    await chunks.next();
    proxy.refuse(true);
    proxy.cut();
    await using other = await connect(daemon.url);
    const viewer = await other.attachSession(session.id);
    const awaiting = new Promise((resolve) => viewer.on('awaiting_input', resolve));
    await viewer.sendInput('\n');
    await awaiting;
    proxy.refuse(false);
    let text = '';
    while (!text.endsWith('\n20000\n')) text += String((await chunks.next()).value?.data);
    expectSame(text, Array.from({ length: 20_000 }, (_, i) => `${i + 1}\n`).join(''));
    await session.sendInput('\n');
    expect(await chunks.next()).toEqual({ done: true, value: undefined });
  });
});
