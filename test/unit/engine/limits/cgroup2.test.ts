import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { ControlGroups2 } from '../../../../src/engine/limits/cgroup2.js';
import { linux } from '../../../../src/engine/platform/linux/linux.js';
import { ProcessSnapshot } from '../../../../src/engine/process/process-snapshot.js';

/*
 * What is written to and read from the controllers' files. A plain directory stands for a delegated group: it shows the
 * values, not what a kernel makes of them.
 */
describe('control groups of version 2, their files', () => {
  let own: string;

  beforeEach(() => {
    own = mkdtempSync(join(tmpdir(), 'shell-adapter-cgroup2-'));
  });

  afterEach(() => {
    rmSync(own, { recursive: true, force: true });
  });

  const read = (...path: string[]) => readFileSync(join(own, ...path), 'utf8');
  const put = (path: string, text: string) => {
    mkdirSync(join(own, path, '..'), { recursive: true });
    writeFileSync(join(own, path), text);
  };

  function makeGroup() {
    put('cgroup.controllers', 'cpu io memory pids\n');
    const mechanism = new ControlGroups2('1-2-x', false, own);
    put('shell-adapter-1-2-x/g0/cpu.stat', 'usage_usec 1234567\nuser_usec 1\n');
    return { mechanism, group: mechanism.createGroup() };
  }

  it('has the controllers divided among its groups', () => {
    expect(makeGroup().mechanism.isEnforced).toBe(true);
    expect([read('cgroup.subtree_control'), read('shell-adapter-1-2-x', 'cgroup.subtree_control')]).toEqual([
      '+memory +pids',
      '+memory +pids',
    ]);
  });

  it('sets limits, and takes them away', () => {
    const { group } = makeGroup();
    const files = ['memory.max', 'memory.swap.max', 'pids.max'];
    const values = () => files.map((file) => read('shell-adapter-1-2-x', 'g0', file));
    group.setLimits({ memory_mb: 1.5, processes: 20 });
    expect(values()).toEqual(['1572864', '0', '20']);
    group.holdForks(true);
    expect(values()[2]).toBe('0');
    group.holdForks(false);
    expect(values()[2]).toBe('20');
    group.setLimits({});
    expect(values()).toEqual(['max', 'max', 'max']);
    group[Symbol.dispose]();
  });

  it('reads what is used, and what the kernel has done', () => {
    const { group } = makeGroup();
    put('shell-adapter-1-2-x/g0/memory.stat', 'anon 1000\nfile 5000\nshmem 24\n');
    put('shell-adapter-1-2-x/g0/pids.current', '7\n');
    put('shell-adapter-1-2-x/g0/cgroup.procs', '');
    expect(group.sample(new ProcessSnapshot(linux.processes))).toMatchObject({
      memoryBytes: 1024,
      tasks: 7,
      cpuMs: 1234.567,
      pids: [],
    });
    group.setLimits({ memory_mb: 1, processes: 7 });
    put('shell-adapter-1-2-x/g0/memory.events', 'max 9\noom 1\noom_kill 2\n');
    put('shell-adapter-1-2-x/g0/pids.events', 'max 3\n');
    expect(group.takeKernelActions()).toEqual({ kills: 2, refusedForks: 3 });
    expect(group.takeKernelActions()).toEqual({ kills: 0, refusedForks: 0 });
    group[Symbol.dispose]();
  });

  it('is not taken without its controllers, unless it was asked for', () => {
    put('cgroup.controllers', 'cpu\n');
    const make = (mayLackControllers: boolean) => new ControlGroups2('i', mayLackControllers, own);
    expect(() => make(false)).toThrow('the controllers memory, pids are not there');
    expect(make(true).isEnforced).toBe(false);
  });

  it('cannot be made in a directory that is not there, and leaves nothing behind', () => {
    const gone = join(own, 'gone', 'deeper');
    expect(() => new ControlGroups2('i', false, gone)).toThrow(/not there/);
    expect(existsSync(gone)).toBe(false);
    expect(readdirSync(own)).toEqual([]);
  });
});
