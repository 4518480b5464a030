import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

import { afterEach, describe, expect, it } from 'vitest';

import { TAG_VARIABLE } from '../../../../src/engine/platform/platform.js';
import { linux } from '../../../../src/engine/platform/linux/linux.js';
import {
  findCommandProcesses,
  findSessionProcesses,
  plainRoot,
} from '../../../../src/engine/process/find-processes.js';
import { endProcesses, signalProcesses } from '../../../../src/engine/process/end-processes.js';
import { reportProcesses } from '../../../../src/engine/process/background-processes.js';
import { eventually } from '../../../support/measure.js';

const { processes } = linux;
const { isAlive, commandLine } = processes;
const GRACE_MS = 300;
/** More than what processes are told from older ones by, in milliseconds: three clock ticks. */
const SLOW_LOOK_MS = 200;
/** Tells a process of this file that shows nothing else. */
const ORPHAN_SECONDS = `300.${process.pid}`;
const ORPHAN = `sleep ${ORPHAN_SECONDS}`;

/** Starts a bash in a session of its own that says `ready` once its children run. */
async function start(script: string, tag: string): Promise<ChildProcess> {
  const child = spawn('bash', ['-c', script], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, [TAG_VARIABLE]: tag },
  });
  await once(child.stdout, 'data');
  return child;
}

describe('process trees', () => {
  const tags: string[] = [];
  const newTag = () => {
    const tag = `test-${process.pid}-${tags.length}.session`;
    tags.push(tag);
    return tag;
  };

  afterEach(async () => {
    for (const tag of tags)
      expect(
        await endProcesses(() => findSessionProcesses({ tag, root: undefined, processes }), 0, { processes }),
      ).toEqual([]);
  });

  it.each([
    ['a child', 'sleep 300 & echo ready; wait'],
    ['a child of a session of its own', 'setsid sleep 300 & echo ready; wait'],
    ['a double fork', '(setsid sleep 300 & ) ; echo ready; wait; sleep 300'],
    ['a child that ignores SIGTERM and SIGHUP', 'trap "" TERM HUP; sleep 300 & echo ready; wait'],
    ['a stopped child', 'sleep 300 & kill -STOP $!; echo ready; wait'],
    ['a child without environment', 'env -i sleep 300 & echo ready; wait'],
  ])('finds and ends %s', async (_, script) => {
    const tag = newTag();
    const root = await start(script, `${tag}.1`);
    const find = () => findSessionProcesses({ tag, root: plainRoot(root.pid!), processes });
    await expect
      .poll(() => reportProcesses(find(), processes).some(({ command }) => command.includes('sleep 300')))
      .toBe(true);
    const found = find();
    expect(await endProcesses(find, GRACE_MS, { processes })).toEqual([]);
    root.kill('SIGKILL');
    expect(found.filter(isAlive)).toEqual([]);
  });

  it('takes no process of a command for an older one because the look takes long', async () => {
    const tag = newTag();
    const beginning = processes.markStart();
    const shell = await start(`(env -i setsid ${ORPHAN} &) ; echo ready; exec sleep 300`, `${tag}.0`);
    const sleeper = await eventually(() => {
      const found = processes.list().find(({ pid }) => pid !== shell.pid && commandLine({ pid, name: '' }) === ORPHAN);
      expect(found).toBeDefined();
      return found!;
    });
    const members = () => {
      // As the walk over all processes does on a busy machine.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, SLOW_LOOK_MS);
      return [shell.pid!, sleeper.pid];
    };
    const group = { members, holdForks: () => undefined, isKeptByKernel: true };
    const find = () =>
      findCommandProcesses({ tag: `${tag}.1`, root: plainRoot(shell.pid!), beginning, group, processes });
    expect(find().map(({ pid }) => pid)).toEqual([sleeper.pid]);
    expect(await endProcesses(find, 0, { processes })).toEqual([]);
    expect(isAlive(sleeper)).toBe(false);
  });

  it('finds what was started by a process that has ended during the look', async () => {
    const tag = newTag();
    const shell = await start('echo ready; exec sleep 300', `${tag}.0`);
    let late: ChildProcess | undefined;
    const members = () => {
      late ??= spawn('sleep', [ORPHAN_SECONDS], { detached: true, stdio: 'ignore', env: {} });
      return [shell.pid!, late.pid!];
    };
    const group = { members, holdForks: () => undefined, isKeptByKernel: true };
    const find = () => findSessionProcesses({ tag, root: plainRoot(shell.pid!), group, processes });
    expect(find().map(({ pid }) => pid)).toEqual([late!.pid]);
    expect(await endProcesses(find, 0, { processes })).toEqual([]);
  });

  it('asks politely first', async () => {
    const tag = newTag();
    const root = await start(
      `bash -c 'trap "exit 5" TERM; echo ready; while :; do sleep 0.01; done'; exit $?`,
      `${tag}.1`,
    );
    const ended = once(root, 'exit');
    expect(
      await endProcesses(() => findSessionProcesses({ tag, root: plainRoot(root.pid!), processes }), 5000, {
        processes,
      }),
    ).toEqual([]);
    expect(await ended).toEqual([5, null]);
  });

  it('does not signal another process under the same number', () => {
    const self = processes.read(process.pid)!;
    expect(signalProcesses([{ ...self, startTicks: self.startTicks + 1 }], 'SIGKILL', processes)).toEqual([]);
  });

  it('reads names with blanks and parentheses, tags and command lines', async () => {
    const tag = newTag();
    const root = await start(`echo ready; exec -a 'a ) (b' sleep 300`, `${tag}.7`);
    await expect.poll(() => commandLine(processes.read(root.pid!)!)).toBe('a ) (b 300');
    expect(processes.tagOf(root.pid!)).toBe(`${tag}.7`);
    const ended = once(root, 'exit');
    root.kill('SIGKILL');
    await ended;
    expect(processes.read(root.pid!)).toBeUndefined();
  });
});
