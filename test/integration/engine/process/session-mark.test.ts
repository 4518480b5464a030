import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

import { afterEach, describe, expect, it } from 'vitest';

import { linux, readMark } from '../../../../src/engine/platform/linux/linux.js';
import { findNewProcesses } from '../../../../src/engine/process/background-processes.js';
import {
  findInstanceProcesses,
  findSessionProcesses,
  plainRoot,
} from '../../../../src/engine/process/find-processes.js';
import { isOriginIn, isOriginOf, markOf } from '../../../../src/engine/process/session-mark.js';
import { killProcesses } from '../../../../src/engine/process/end-processes.js';
import { eventually } from '../../../support/measure.js';

const { processes } = linux;
const { markStart, pidsGivenSince } = processes;
const INSTANCE = `1-2-3-mark${process.pid}`;
const TAG = `${INSTANCE}.a`;
const OTHER = `${INSTANCE}.b`;

/** How each shell sets the soft limit of file locks. */
const SHELLS = [
  ['bash', '-x'],
  ['zsh', '-x'],
  ['dash', '-w'],
] as const;

describe('the mark of a session', () => {
  const children: ChildProcess[] = [];

  afterEach(async () => {
    await killProcesses(() => findInstanceProcesses(INSTANCE, processes), { processes });
    for (const child of children.splice(0))
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });

  /** Runs text in a shell that has a mark and no tag. */
  function start(text: string, tag = TAG, [shell, option]: readonly [string, string] = ['bash', '-x']): number {
    const child = spawn(shell, ['-c', `ulimit -S ${option} ${markOf(tag)}; ${text}`], {
      stdio: 'ignore',
      detached: true,
    });
    children.push(child);
    return child.pid!;
  }

  it.each(SHELLS)('%s can take it, and what has given up everything else still has it', async (...shell) => {
    start('(env -i setsid sleep 300 &)', TAG, shell);
    const pid = await eventually(() => {
      const found = findSessionProcesses({ tag: TAG, root: undefined, processes }).find(({ name }) => name === 'sleep');
      expect(found).toBeDefined();
      return found!.pid;
    });
    expect(readMark(pid)).toBe(markOf(TAG));
    expect(findSessionProcesses({ tag: OTHER, root: undefined, processes })).toEqual([]);
  });

  it('a process without one has none', () => {
    expect(readMark(process.pid)).toBeUndefined();
    expect(readMark(2 ** 22 + 1)).toBeUndefined();
  });

  it('tells the session, and the run of the daemon', () => {
    expect(isOriginIn(TAG)(markOf(TAG))).toBe(true);
    expect(isOriginIn(TAG)(markOf(OTHER))).toBe(false);
    expect(isOriginOf(INSTANCE)(markOf(OTHER))).toBe(true);
    expect(isOriginOf(`${INSTANCE}0`)(markOf(OTHER))).toBe(false);
  });

  it.each([
    [TAG, true],
    [`${TAG}.000001`, true],
    [`${TAG}b.000001`, false],
    [OTHER, false],
    [undefined, false],
  ])('the origin %s is that of the session: %s', (origin, isWithin) => {
    expect(isOriginIn(TAG)(origin)).toBe(isWithin);
  });

  it('new processes of a session are found without a look at others', async () => {
    const older = start('exec sleep 300');
    await eventually(() => {
      expect(processes.originOf(processes.read(older)!)).toBe(markOf(TAG));
    });
    const beginning = markStart();
    const pid = start('exec sleep 301');
    start('exec sleep 302', OTHER);
    await eventually(() => {
      const found = findNewProcesses({ tag: TAG, root: plainRoot(older), processes }, beginning);
      expect(found.map((entry) => entry.pid)).toEqual([pid]);
    });
    const given = pidsGivenSince(beginning);
    expect([older, pid].map(given.includes)).toEqual([false, true]);
    expect(given.list()).toContain(pid);
    expect(given.list()).not.toContain(older);
  });

  it('a number is new after they have begun anew', () => {
    const { newestPid } = markStart();
    // All but so few have been given away since.
    const before = newestPid! + 1000;
    const given = pidsGivenSince({ at: performance.now(), newestPid: before });
    expect(given.includes(newestPid!)).toBe(true);
    expect(given.includes(before)).toBe(false);
  });

  it('after long, any process may be new', () => {
    const given = pidsGivenSince({ at: performance.now() - 1e9, newestPid: 1 });
    expect([given.count, given.includes(process.pid)]).toEqual([Infinity, true]);
  });
});
