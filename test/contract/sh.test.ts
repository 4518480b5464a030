import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { linux } from '../../src/engine/platform/linux/linux.js';
import { shellContract } from './shells/contract.js';
import { ShellHarness } from './shells/harness.js';

shellContract('sh');

/** Functions of the driver, as a command that is interrupted at the next step of the driver can replace them. */
const REPORT = '__sa_late() { case $__sa_nonce in ?*) __sa_end "$1" ;; esac; }';

describe('interrupts while sh reports a command', () => {
  let bench: ShellHarness;
  beforeAll(async () => {
    bench = await ShellHarness.start('sh');
  });
  afterAll(async () => {
    await bench[Symbol.asyncDispose]();
    expect(await bench.leftovers()).toEqual({ processes: [], descriptors: 0 });
  });

  test('one that cuts the report short loses neither the command nor the shell', async () => {
    await using session = await bench.openSession();
    const { pid } = session;
    const result = await session.run(`echo a; __sa_late() { ${REPORT}; kill -INT $$; }; kill -INT $$; echo no`);
    expect(result).toMatchObject({ stdout: 'a\n', exitCode: 130, sessionState: 'alive', warnings: [] });
    expect(await session.run('echo b')).toMatchObject({ stdout: 'b\n' });
    expect(session.pid).toBe(pid);
  });

  test('one of a client is not sent', async () => {
    await using session = await bench.openSession();
    const { pid } = session;
    const command = `__sa_late() { ${REPORT}; trap 'echo >got' INT; kill -STOP $$; trap - INT; __sa_late "$1"; }; kill -INT $$`;
    const running = session.start(command);
    while (linux.processes.read(pid)?.state !== 'T') await sleep(1);
    const sent = session.signal(running, 'SIGINT');
    // The shell is stopped for the signal as well.
    await Promise.race([sent, sleep(100)]);
    process.kill(pid, 'SIGCONT');
    expect(await running.result()).toMatchObject({ exitCode: 130, sessionState: 'alive', warnings: [] });
    expect(await sent).toEqual([]);
    expect(existsSync(join(session.directory, 'got'))).toBe(false);
    expect(session.pid).toBe(pid);
  });
});
