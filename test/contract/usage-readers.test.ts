import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { MB } from '../../src/core/limits.js';
import { PAGE_BYTES } from '../../src/engine/platform/platform.js';
import { heldBytesOf, takeSnapshot } from '../../src/engine/process/process-snapshot.js';
import { Polling } from '../../src/engine/limits/polling.js';
import { TICKS_PER_SECOND } from '../../src/engine/platform/platform.js';
import { linux } from '../../src/engine/platform/linux/linux.js';
import { posix } from '../../src/engine/platform/posix/posix.js';
import { eventually } from '../support/measure.js';

/** What pidusage keeps of processes, with a timer, unless it is told not to. */
const history = createRequire(import.meta.url)('pidusage/lib/history') as { readonly get: (pid: number) => unknown };

/** The coarsest that CPU time is told in, in clock ticks: what ps prints are whole seconds. */
const COARSEST_TICKS = TICKS_PER_SECOND;

describe.each([linux, posix])('processes and what they use, on the platform $name', (platform) => {
  const { processes } = platform;
  const sample = () => takeSnapshot(processes, 'new');
  let shell: ChildProcess;

  beforeEach(() => {
    shell = spawn('bash', [], { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  });

  afterEach(async () => {
    process.kill(-shell.pid!, 'SIGKILL');
    if (shell.exitCode === null && shell.signalCode === null) await once(shell, 'exit');
  });

  /** Runs text in the shell; gives the first line that it prints. */
  async function run(text: string): Promise<string> {
    shell.stdin?.write(`${text}\n`);
    return String((await once(shell.stdout!, 'data'))[0]).trim();
  }

  const entryOf = async (pid: number) => (await sample()).of([pid])[0];

  it('tells who has started whom, at any depth', async () => {
    const sleeper = Number(await run("sh -c 'sleep 300 & echo $!; wait' &"));
    const snapshot = await sample();
    expect([...snapshot.descendantsOf([shell.pid!])]).toContain(sleeper);
    expect(snapshot.of([shell.pid!])[0]).toMatchObject({ parent: process.pid, group: shell.pid });
    expect([...snapshot.all()].map(({ pid }) => pid)).toContain(process.pid);
  });

  it('leaves out what has gone', async () => {
    const pid = Number(await run('sleep 300 & echo $!'));
    expect(await entryOf(pid)).toMatchObject({ pid });
    await run('kill $!; wait $! 2>/dev/null; echo gone');
    const snapshot = await sample();
    expect(snapshot.of([pid])).toEqual([]);
  });

  it('tells the memory that a process holds', async () => {
    const program = 'import time; a = bytearray(50 * 2**20); print("ready", flush=True); time.sleep(300)';
    const pid = Number((await run(`python3 -c '${program}' & echo $!; read _ < /dev/null`)).split('\n')[0]);
    await eventually(async () => {
      const entry = await entryOf(pid);
      expect(entry!.residentPages * PAGE_BYTES).toBeGreaterThan(50 * MB);
      expect(heldBytesOf([entry!], processes)).toBeLessThan(90 * MB);
    });
  });

  it('tells the CPU time that a process has used', async () => {
    const pid = Number(await run('while :; do :; done & echo $!'));
    const before = (await entryOf(pid))!.cpuTicks;
    await eventually(async () => {
      expect((await entryOf(pid))!.cpuTicks - before).toBeGreaterThanOrEqual(COARSEST_TICKS);
    });
  });

  it('knows a process again, and whether it still runs', async () => {
    const first = (await entryOf(shell.pid!))!;
    const second = (await entryOf(shell.pid!))!;
    expect(second.startTicks).toBe(first.startTicks);
    expect(processes.isAlive(first)).toBe(true);
    const gone = { ...first, pid: Number(await run('sh -c "echo \\$\\$"')) };
    // Until the shell has waited for it, it is a zombie, which kill(2) can't tell from a process that runs.
    await eventually(() => {
      expect(processes.isAlive(gone)).toBe(false);
    });
  });

  it('leaves nothing behind of what was measured', async () => {
    const entry = await entryOf(shell.pid!);
    expect(entry!.residentPages).toBeGreaterThan(0);
    expect(history.get(shell.pid!)).toBeUndefined();
  });

  it('has each process measured by the list that shows it first', async () => {
    const pid = Number(await run('sleep 300 & echo $!'));
    const all = [...(await sample()).all()];
    expect(all.find((entry) => entry.pid === pid)?.residentPages).toBeGreaterThan(0);
    expect(all.filter((entry) => [shell.pid, pid].includes(entry.pid))).toHaveLength(2);
  });

  it('is enough to keep limits by polling', async () => {
    using mechanism = new Polling(platform);
    using group = mechanism.createGroup('nobody.here');
    await group.begin(shell.pid!, false);
    const sleeper = Number(await run('sleep 300 & echo $!'));
    const sample = group.sample(await mechanism.sample());
    expect(sample.pids).toEqual(expect.arrayContaining([shell.pid, sleeper]));
    expect(sample.tasks).toBe(2);
    expect(sample.memoryBytes).toBeGreaterThan(MB);
    expect([...group.members()].toSorted()).toEqual([...sample.pids].toSorted());
  });
});
