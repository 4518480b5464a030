import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ShellHarness } from '../../../contract/shells/harness.js';

/** Ignores SIGTERM, so that the end of its shell takes the whole grace. */
const STUBBORN = `sh -c 'trap "" TERM; echo up; while :; do sleep 300; done' &`;

let bench: ShellHarness;

beforeAll(async () => {
  bench = await ShellHarness.start('bash', 'none', 'auto');
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  expect(await bench.leftovers()).toEqual({ processes: [], descriptors: 0 });
});

describe('a shell that is replaced', () => {
  it('two resets at once: what comes between them waits for the second', async () => {
    await using session = await bench.openSession();
    const [first, second] = [session.reset(), session.reset()];
    await first;
    const command = session.start('echo a; sleep 0.2; echo b');
    await second;
    expect(await command.result()).toMatchObject({ status: 'completed', stdout: 'a\nb\n', sessionState: 'alive' });
  });

  it('one that is killed while the processes of its predecessor are being ended is replaced too, and told', async () => {
    await using session = await bench.openSession();
    await session.start(STUBBORN).prints('up');
    const first = session.pid;
    expect(await session.run('kill -KILL $$')).toMatchObject({ sessionState: 'restarted', exitCode: 137 });
    while (session.pid === first) await new Promise((resolve) => setImmediate(resolve));
    await session.descriptorsAtRest();
    process.kill(session.pid, 'SIGKILL');
    const next = await session.run('echo on');
    expect(next).toMatchObject({ status: 'completed', stdout: 'on\n', sessionState: 'restarted' });
    expect(next.warnings.map(({ code }) => code)).toContain('SHELL_ENDED');
  });
});

describe('a command whose pipes are still being made', () => {
  it('can be taken out of the queue, and does not run', async () => {
    await using session = await bench.openSession();
    await session.run('sleep 300 &');
    await session.run('sleep 300 &');
    const command = session.start('touch ran');
    session.cancel(command);
    expect(await command.result()).toMatchObject({ status: 'interrupted', exitCode: 130 });
    expect(await session.run('ls')).toMatchObject({ stdout: '' });
  });
});
