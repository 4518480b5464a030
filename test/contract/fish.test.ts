import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { linux } from '../../src/engine/platform/linux/linux.js';
import { posix } from '../../src/engine/platform/posix/posix.js';
import { findDefaultShell, findProgram } from '../../src/engine/shells/list.js';
import { rounds } from '../support/rounds.js';
import { canSandbox } from '../support/sandbox.js';
import { ALIVE, FISH_ROWS, LEFT_OUT } from './shells/fish-rows.js';
import { PATH, ShellHarness } from './shells/harness.js';
import { HOSTILE_ROWS } from './shells/hostile-rows.js';
import { finish, runOneShot } from './shells/one-shot-tests.js';
import { OUTPUT_ROWS } from './shells/output-rows.js';
import { STATE_ROWS } from './shells/state-rows.js';
import { expectResult, sharedTitles } from './shells/table.js';
import type { RunningCommand, TestSession } from './shells/test-session.js';

const SURROUNDINGS = [
  { platform: linux, sandbox: 'none' },
  ...(canSandbox ? ([{ platform: linux, sandbox: 'workspace' }] as const) : []),
  { platform: posix, sandbox: 'none' },
] as const;
const isInstalled = findProgram('fish', PATH) !== undefined;
const COMMANDS = rounds(100);
/** Where each of them runs ps(1). */
const FEW_COMMANDS = rounds(20, 10);
/** Enough for a race of some microseconds to show now and then. */
const HASTY_INTERRUPTS = rounds(20, 4);
const FEW_HASTY_INTERRUPTS = rounds(6, 4);
/** Most of them cost the command that was sent next, before requests were repeated. */
const DRIVER_INTERRUPTS = rounds(50, 10);
const INTERRUPTED = { stdout: 'go\n', exitCode: 130, status: 'interrupted' } as const;

test('every row of the contract is there for fish, or left out for a reason', () => {
  const titles = sharedTitles([...OUTPUT_ROWS, ...STATE_ROWS, ...HOSTILE_ROWS]);
  expect([...FISH_ROWS.map(({ title }) => title), ...LEFT_OUT.keys()].toSorted()).toEqual(titles.toSorted());
});

describe.runIf(isInstalled)('a command without a session', () => {
  const texts = [
    ['an exit code', 'echo a; exit 3; echo no'],
    ['a command that is not there', 'echo a\nno_such_program_xyz'],
    ['a text that does not parse', 'echo "abc'],
    ['stdin, and no parameters', 'cat; echo end (count $argv)'],
    ['functions and lists', 'function f; echo "f $argv"; end\nfor i in 1 2; f $i; end'],
  ] as const;
  test.each(texts)('%s', async (_title, text) => {
    const installed = findDefaultShell('fish', PATH);
    const plain = await finish(
      spawn(installed.path, ['--no-config', '-c', text], { stdio: ['ignore', 'pipe', 'pipe'] }),
    );
    expect(await runOneShot(installed, { text })).toEqual(plain);
  });
});

describe.runIf(isInstalled).each(SURROUNDINGS)(
  'fish, sandbox $sandbox, platform $platform.name',
  ({ platform, sandbox }) => {
    let bench: ShellHarness;
    beforeAll(async () => {
      bench = await ShellHarness.start('fish', { profile: sandbox, platform });
    });
    afterAll(async () => {
      await bench[Symbol.asyncDispose]();
      expect(await bench.leftovers()).toEqual({ processes: [], descriptors: 0 });
    });
    const open = () => bench.openSession();

    test.each(FISH_ROWS.filter(({ isPrevented }) => sandbox === 'none' || isPrevented !== true))(
      '$title',
      async ({ steps }) => {
        await using session = await open();
        for (const { command, expected, options } of steps) {
          expectResult(await session.run(command, options), expected, command, session.directory);
        }
      },
    );
    describe('interrupts', () => {
      interruptTests(open, platform.can.openFiles);
    });
    describe('input, jobs and the end', () => {
      inputTests(open);
      endTests(open, platform.can.openFiles ? COMMANDS : FEW_COMMANDS);
    });
  },
);

const expectAlive = async (session: TestSession): Promise<void> => {
  expectResult(await session.run(ALIVE.command), ALIVE.expected, ALIVE.command, session.directory);
};

/** @param isExact whether the platform sees what a signal has met: else it may be lost in a loop of short programs */
function interruptTests(open: () => Promise<TestSession>, isExact: boolean): void {
  test.each([
    ['a program', 'echo go; sleep 30; echo no', 'sleep'],
    ['a pipeline', 'echo go; sleep 30 | cat; echo no', 'cat'],
    ['a loop of programs', 'echo go; for i in 1 2 3; sleep 30; end; echo no', 'sleep'],
    ['a loop of the shell alone', 'echo go; while true; end; echo no', undefined],
    ['a function', 'function f; sleep 30; echo no; end; echo go; f; echo no', 'sleep'],
    ['a command substitution', 'echo go; set x (sleep 30); echo no', 'sleep'],
    ['another shell', 'echo go; sh -c "sleep 30; echo no"; echo no', 'sleep'],
  ])('%s', async (_title, command, program) => {
    await using session = await open();
    const { pid } = session;
    const running = session.start(command);
    await running.prints('go');
    if (program !== undefined) await session.runsProgram(program);
    await session.signal(running, 'SIGINT');
    expectResult(await running.result(), INTERRUPTED, command, session.directory);
    await expectAlive(session);
    expect(session.pid).toBe(pid);
  });

  test('interrupts that come late or twice neither lose nor reach the next command', async () => {
    await using session = await open();
    const { pid } = session;
    for (let index = 0; index < (isExact ? HASTY_INTERRUPTS : FEW_HASTY_INTERRUPTS); index++) {
      const running = session.start(index % 2 === 0 ? 'sleep 0.01' : 'echo go; while true; end');
      if (index % 2 === 1) await running.prints('go');
      const signals = [session.signal(running, 'SIGINT'), session.signal(running, 'SIGINT')];
      await running.result();
      const next = await session.run(`sleep 0.001; echo ${index}`);
      expectResult(next, { stdout: `${index}\n` }, 'echo', session.directory);
      await Promise.all(signals);
    }
    expect(session.pid).toBe(pid);
  });

  test('an interrupt that meets the driver between two commands reaches neither, and costs no shell', async () => {
    await using session = await open();
    const { pid } = session;
    for (let index = 0; index < DRIVER_INTERRUPTS; index++) {
      process.kill(-pid, 'SIGINT');
      const result = await session.run(`echo ${index}`);
      expectResult(result, { stdout: `${index}\n` }, 'echo', session.directory);
    }
    expect(session.pid).toBe(pid);
  });

  test.runIf(isExact)('a time-out of a loop leaves the shell as it is', async () => {
    await using session = await open();
    const { pid } = session;
    const result = await session.run('echo part; while true; /bin/true; end', { timeoutMs: 100 });
    expectResult(result, { stdout: 'part\n', exitCode: 124, status: 'timed_out' }, 'loop', session.directory);
    await expectAlive(session);
    expect(session.pid).toBe(pid);
  });
}

function inputTests(open: () => Promise<TestSession>): void {
  const type = async (session: TestSession, running: RunningCommand, text: string, isEndOfFile = false) => {
    await running.awaitsInput();
    session.type(text, isEndOfFile);
    return running.result();
  };

  test('typed input reaches a program, and the shell’s own read', async () => {
    await using session = await open();
    expect((await type(session, session.start('read x; echo "got $x"'), 'hello\n')).stdout).toBe('got hello\n');
    expect((await type(session, session.start('cat; echo end'), 'hello\n', true)).stdout).toBe('hello\nend\n');
    await expectAlive(session);
  });

  test('end of file at an idle fish does not end the session', async () => {
    await using session = await open();
    const { pid } = session;
    for (let index = 0; index < 20; index++) session.type('', true);
    await expectAlive(session);
    expect(session.pid).toBe(pid);
  });

  test('a background job does not hold its command up, and makes no noise', async () => {
    await using session = await open();
    const started = await session.run('sleep 30 & echo started');
    expectResult(started, { stdout: 'started\n' }, 'sleep', session.directory);
    expect(started.backgroundProcesses.map(({ command }) => command)).toEqual(['sleep 30']);
    expectResult(await session.run('kill $last_pid; wait $last_pid'), {}, 'kill', '');
    expectResult(await session.run('sleep 0.01 & sleep 0.1; echo quiet'), { stdout: 'quiet\n' }, 'sleep', '');
  });
}

function endTests(open: () => Promise<TestSession>, count: number): void {
  test('many commands leave no descriptor behind, and inherit none', async () => {
    await using session = await open();
    const before = await session.descriptorsAtRest();
    for (let index = 0; index < count; index++) {
      const { stdout } = await session.run(`set x (echo y); true & wait; echo $x ${index}`);
      expect(stdout).toBe(`y ${index}\n`);
    }
    expect(await session.descriptorsAtRest()).toBe(before);
    const { stdout } = await session.run("sh -c 'ls -l /proc/$$/fd'");
    expect(stdout).not.toMatch(/shell-adapter-\d+\/.*\/(cmd|ctl|loop|trap)/);
  });

  test('closing the session runs the handler of fish_exit, and ends what it has started', async () => {
    const session = await open();
    await session.run('function bye --on-event fish_exit; echo bye >bye; sleep 0.05; echo end >>bye; end');
    await session.run('setsid sleep 300 &');
    const { pid } = session;
    expect(await session.close()).toEqual([]);
    expect(readFileSync(join(session.directory, 'bye'), 'utf8')).toBe('bye\nend\n');
    expect(existsSync(`/proc/${pid}`)).toBe(false);
  });
}
