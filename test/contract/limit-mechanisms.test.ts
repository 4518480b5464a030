import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { MB } from '../../src/core/limits.js';
import type { LimitMechanism, ProcessGroup } from '../../src/engine/limits/mechanism.js';
import { chooseMechanism } from '../../src/engine/limits/probe.js';
import {
  findSessionProcesses,
  plainRoot,
  type ProcessRoot,
  sandboxRoot,
} from '../../src/engine/process/find-processes.js';
import { TAG_VARIABLE } from '../../src/engine/platform/platform.js';
import { linux } from '../../src/engine/platform/linux/linux.js';
import { killProcesses } from '../../src/engine/process/end-processes.js';
import { markOf } from '../../src/engine/process/session-mark.js';
import { MECHANISMS } from '../support/machine/limit-mechanisms.js';
import { eventually } from '../support/measure.js';
import { isRunning } from '../support/processes.js';

const INSTANCE = `contract-${process.pid}`;
const OPTIONS = { instance: INSTANCE, path: process.env['PATH'] ?? '', platform: linux };
const { processes } = linux;
const TAG = `${INSTANCE}.s`;

/** Starts programs that have given up one thing after another by which they could be told, and says so when they run. */
const ESCAPEES = {
  'a child': 'sleep 300',
  'one in a session of its own': 'setsid sleep 300',
  'an orphan in a session of its own': '(setsid sleep 300 &)',
  'one with an empty environment': 'env -i sleep 300',
  'an orphan in a session of its own with an empty environment': '(env -i setsid sleep 300 &)',
} as const;

describe.each(MECHANISMS)('$title', ({ name, isUsable }) => {
  describe.skipIf(!isUsable)('a group', () => {
    let mechanism: LimitMechanism;
    let group: ProcessGroup;
    let directory: string;
    let shell: ChildProcess;
    let root: ProcessRoot;

    /** Text that the shell runs, and a wait until it has said so. */
    async function run(text: string): Promise<string> {
      shell.stdin?.write(`${text}\necho done\n`);
      let output = '';
      while (!output.includes('done\n')) output += String((await once(shell.stdout!, 'data'))[0]);
      return output.replace(/done\n$/, '');
    }

    const sample = async () => group.sample(await mechanism.sample());

    /** As it is taken at the end of a command. */
    const exactly = () => group.sample();

    beforeEach(async () => {
      directory = mkdtempSync(join(tmpdir(), 'shell-adapter-limits-'));
      mechanism = chooseMechanism(name, OPTIONS).mechanism;
      group = mechanism.createGroup(TAG, mechanism.namespace !== undefined);
      const command = mechanism.namespace?.wrap({ command: ['bash'], cwd: directory }) ?? ['bash'];
      shell = spawn(command[0]!, command.slice(1), {
        stdio: ['pipe', 'pipe', 'inherit'],
        detached: true,
        cwd: directory,
        env: { PATH: process.env['PATH'], [TAG_VARIABLE]: `${TAG}.0` },
      });
      await run(`ulimit -S -x ${markOf(TAG)}`);
      root = mechanism.namespace ? sandboxRoot(shell.pid!, processes)! : plainRoot(shell.pid!);
      await group.begin(root.sessionLeader, false);
    });

    afterEach(async () => {
      const scope = { tag: TAG, root: undefined, group, processes };
      expect(await killProcesses(() => findSessionProcesses(scope), { processes, group })).toEqual([]);
      if (shell.exitCode === null && shell.signalCode === null) await once(shell, 'exit');
      await eventually(() => {
        group[Symbol.dispose]();
        mechanism[Symbol.dispose]();
        expect(mechanism.directories.filter(existsSync)).toEqual([]);
      });
      rmSync(directory, { recursive: true, force: true });
    });

    it.each(Object.entries(ESCAPEES))('has %s among its members', async (_, program) => {
      await run(`${program} & :`);
      const pid = await eventually(async () => {
        const sleeper = (await sample()).pids.find(isSleep);
        expect(sleeper).toBeDefined();
        return sleeper!;
      });
      const find = () => findSessionProcesses({ tag: TAG, root, group, processes });
      expect(find().map((entry) => entry.pid)).toContain(pid);
      await killProcesses(find, { processes, group });
      expect([isRunning(pid), ...root.rootPids.map(isRunning)]).toEqual([false, ...root.rootPids.map(() => true)]);
    });

    it('counts the CPU time of processes that have ended', async () => {
      const before = (await sample()).cpuMs;
      await run('timeout 0.5 sh -c "while :; do :; done"');
      const used = (await sample()).cpuMs - before;
      // A busy machine gives it less than half a second.
      expect(used).toBeGreaterThan(50);
      expect(used).toBeLessThan(700);
    });

    it('tells memory, processes and threads as they are', async () => {
      const before = await sample();
      await run(`python3 -c 'import time; a = bytearray(50 * 2**20); time.sleep(300)' & :`);
      await eventually(async () => {
        const { memoryBytes, tasks } = await sample();
        expect(memoryBytes - before.memoryBytes).toBeGreaterThan(50 * MB);
        expect(memoryBytes - before.memoryBytes).toBeLessThan(90 * MB);
        expect(tasks - before.tasks).toBe(1);
      });
    });

    // Without the memory controller, version 2 measures processes alone.
    it.skipIf(name === 'cgroup2').each([
      ['one that is closed and stays', 'head -c 60M /dev/zero > "$F"'],
      ['one that is removed while it is open', 'exec 7>"$F"; rm "$F"; head -c 60M /dev/zero >&7'],
      ['many, of programs that end at once', 'for i in $(seq 60); do head -c 1M /dev/zero > "$F.$i"; done'],
    ])('counts files in memory: %s', async (_, program) => {
      const before = (await sample()).memoryBytes;
      await run(`F=/dev/shm/${INSTANCE}; ${program}`);
      await eventually(async () => {
        const used = (await sample()).memoryBytes - before;
        expect(used).toBeGreaterThan(58 * MB);
        expect(used).toBeLessThan(70 * MB);
      });
      await run('exec 7>&-; rm -f "$F"*');
      await eventually(async () => {
        expect((await sample()).memoryBytes - before).toBeLessThan(5 * MB);
      });
    });

    it('does not count what others keep in memory', async () => {
      const before = (await sample()).memoryBytes;
      const file = `/dev/shm/${INSTANCE}.other`;
      writeFileSync(file, Buffer.alloc(40 * MB));
      await run('head -c 1M /dev/zero >/dev/null');
      expect((await sample()).memoryBytes - before).toBeLessThan(5 * MB);
      rmSync(file);
    });

    it('counts bytes written by what has ended and to what was deleted, once', async () => {
      const before = (await sample()).writtenBytes;
      await run('for i in 1 2 3; do head -c 10M /dev/zero >f$i; done; exec 7>gone; rm gone; head -c 10M /dev/zero >&7');
      const written = exactly().writtenBytes - before;
      expect(written).toBeGreaterThanOrEqual(40 * MB);
      expect(written).toBeLessThan(48 * MB);
      expect((await sample()).writtenBytes - before).toBeLessThan(48 * MB);
    });

    it('counts once what a process has written that is waited for late', async () => {
      const before = (await sample()).writtenBytes;
      const child = 'open("f", "wb").write(bytes(10 << 20)); open("end").read(); os._exit(0)';
      await run(`mkfifo end wait; python3 -c '
import os
if not os.fork(): ${child}
open("wait").read(); os.wait()' & :`);
      await eventually(async () => {
        expect((await sample()).writtenBytes - before).toBeGreaterThanOrEqual(10 * MB);
      });
      await run('echo > end');
      await eventually(async () => {
        const { pids } = await sample();
        const members = processes.list().filter(({ parent }) => pids.includes(parent));
        expect(members.filter(({ state }) => state === 'Z')).toHaveLength(1);
      });
      await sample();
      await run('echo > wait; wait');
      expect(exactly().writtenBytes - before).toBeLessThan(15 * MB);
    });

    it('a sparse file is no more than was written', async () => {
      const before = (await sample()).writtenBytes;
      await run('truncate -s 2G sparse');
      expect(exactly().writtenBytes - before).toBeLessThan(MB);
    });

    if (name === 'cgroup1') {
      it('keeps memory within its limit: the kernel kills, and that is told once', async () => {
        group.setLimits({ memory_mb: 64 });
        await run('python3 -c "a=bytearray(200*2**20)" 2>/dev/null');
        expect(group.takeKernelActions().kills).toBeGreaterThan(0);
        expect(group.takeKernelActions().kills).toBe(0);
        expect(group.peakMemoryBytes()).toBeLessThanOrEqual(64 * MB);
        group.setLimits({});
        await run('python3 -c "a=bytearray(200*2**20)"');
        expect(group.takeKernelActions().kills).toBe(0);
      });

      it('keeps the number of processes within its limit, and tells that more were wanted', async () => {
        group.setLimits({ processes: 4 });
        // bash would try again for fifteen seconds.
        await run(`sh -c 'for number in 1 2 3 4 5 6 7 8; do sleep 300 >/dev/null & done' 2>/dev/null`);
        expect(group.takeKernelActions().refusedForks).toBeGreaterThan(0);
        expect((await sample()).tasks).toBeLessThanOrEqual(4);
        expect(group.takeKernelActions().refusedForks).toBe(0);
      });
    }
  });
});

/** Whether a process has become the program that was wanted. */
function isSleep(pid: number): boolean {
  return processes.read(pid)?.name === 'sleep';
}
