import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { linux } from '../../../src/engine/platform/linux/linux.js';
import { rounds } from '../../support/rounds.js';
import type { ShellName } from './harness.js';
import { expectResult } from './table.js';
import type { TestSession } from './test-session.js';

const COMMANDS = rounds(300);
/** Where each of them runs ps(1). */
const FEW_COMMANDS = rounds(40, 10);

/** Background jobs. */
export function jobTests(shell: ShellName, open: () => Promise<TestSession>): void {
  test('a background job does not hold its command up, and makes no noise', async () => {
    await using session = await open();
    // Longer than the command may take.
    const started = await session.run('sleep 300 & echo started');
    expectResult(started, { stdout: 'started\n' }, 'sleep', session.directory);
    expect(started.backgroundProcesses.map(({ command }) => command)).toEqual(['sleep 300']);
    expectResult(await session.run('kill $!; wait $!'), { exitCode: 143, stderr: /^(Terminated\n)?$/ }, 'kill', '');
    expectResult(await session.run('true & true & wait; echo done'), { stdout: 'done\n' }, 'wait', '');
    expectResult(await session.run('sleep 0.01 & sleep 0.1; echo quiet'), { stdout: 'quiet\n' }, 'sleep', '');
    expectResult(await session.run('jobs; echo end'), { stdout: 'end\n' }, 'jobs', '');
  });

  test('jobs are known by their numbers and names', async () => {
    await using session = await open();
    await session.run('sleep 30 & sleep 31 &');
    // In zsh the numbers of a session's jobs begin above 1: the driver's own lists have the first ones.
    const first = shell === 'zsh' ? '%sleep\\ 30' : '%1';
    expectResult(await session.run(`kill ${first}; kill %%; wait; echo $?`), { stdout: '0\n' }, 'kill', '');
    expect((await session.run('echo end')).backgroundProcesses).toEqual([]);
  });

  test('what a background job prints later belongs to its command', async () => {
    await using session = await open();
    const running = session.start('mkfifo go; (read line <go; echo "late $line") & echo now');
    expect((await running.result()).stdout).toBe('now\n');
    expectResult(await session.run('echo word >go; wait'), {}, 'wait', session.directory);
    await running.prints('late word\n');
  });
}

/**
 * What a session costs, and how it ends.
 * @param isFast whether a command costs no other process
 */
export function endTests(shell: ShellName, open: () => Promise<TestSession>, isFast: boolean): void {
  test('many commands leave no descriptor behind', async () => {
    await using session = await open();
    await session.run('f() { echo "f $1"; }');
    const before = await session.descriptorsAtRest();
    for (let index = 0; index < (isFast ? COMMANDS : FEW_COMMANDS); index++) {
      const { stdout } = await session.run(`f ${index}; (true); x=$(echo y); true & wait; cat <<E\n$x\nE`);
      expect(stdout).toBe(`f ${index}\ny\n`);
    }
    expect(await session.descriptorsAtRest()).toBe(before);
  });

  test('commands inherit stdin, stdout and stderr alone', async () => {
    await using session = await open();
    const { stdout } = await session.run("sh -c 'ls -l /proc/$$/fd'");
    expect(stdout).not.toMatch(/shell-adapter-\d+\/.*\/(cmd|ctl|loop)/);
  });

  test(`closing the session runs the EXIT trap of ${shell}`, async () => {
    const session = await open();
    await session.run("trap 'echo bye >bye; sleep 0.05; echo end >>bye' EXIT");
    expect((await session.run('trap')).stdout).toMatch(/echo bye/);
    expect(await session.close()).toEqual([]);
    expect(readFileSync(join(session.directory, 'bye'), 'utf8')).toBe('bye\nend\n');
  });

  test('closing the session ends what it has started', async () => {
    const session = await open();
    await session.run('setsid sleep 300 & nohup sleep 300 >/dev/null 2>&1 & (sleep 300 &)');
    const { pid } = session;
    expect(await session.close()).toEqual([]);
    expect(existsSync(`/proc/${pid}`)).toBe(false);
  });

  test('also a job with an emptied environment, which only its terminal shows on some platforms', async () => {
    const session = await open();
    const seconds = `300.${session.pid}`;
    const { backgroundProcesses } = await session.run(`env -i sleep ${seconds} &`);
    expect(backgroundProcesses).toHaveLength(1);
    const jobs = () => linux.processes.list().filter(({ pid }) => linux.processes.argumentsOf(pid).includes(seconds));
    expect(jobs()).toHaveLength(1);
    expect(await session.close()).toEqual([]);
    expect(jobs().filter(linux.processes.isAlive)).toEqual([]);
  });
}
