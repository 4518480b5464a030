import { expect, test } from 'vitest';

import type { SignalName } from '../../../src/core/signals.js';
import { rounds } from '../../support/rounds.js';
import type { ShellName } from './harness.js';
import { alive, type Differences, type Expected, expectResult } from './table.js';
import type { CommandOptions, Result, TestSession } from './test-session.js';

interface InterruptRow {
  readonly title: string;
  readonly command: string;
  /** Program that must have the terminal before the signal is sent; a loop of the shell alone has none. */
  readonly program?: string;
  readonly signal?: SignalName;
  readonly options?: CommandOptions;
  /** By default: ended by the interrupt, nothing more printed. */
  readonly expected?: Expected;
  readonly differences?: Differences;
}

const INTERRUPTED: Expected = { stdout: 'go\n', exitCode: 130, status: 'interrupted' };
/** Enough for a race of some microseconds to show now and then. */
const HASTY_INTERRUPTS = rounds(40);
/** Enough for an interrupt to come between two programs of a pipeline, on a loaded machine too. */
const HASTY_PIPELINES = rounds(100);
/** Where each of them runs ps(1) several times. */
const FEW_HASTY_INTERRUPTS = rounds(10, 4);
const TRAP_IS_FOR_THE_SHELL = 'the interrupt of a program ends the command, and no trap is run';

const ROWS: readonly InterruptRow[] = [
  { title: 'a program', command: 'echo go; sleep 30; echo no', program: 'sleep' },
  // The last of a pipeline decides what comes of it, and is started last.
  { title: 'a pipeline', command: 'echo go; sleep 30 | cat; echo no', program: 'cat' },
  {
    title: 'a pipeline into a loop of the shell',
    command: 'echo go; sleep 30 | while read -r x; do :; done; echo no',
    program: 'sleep',
  },
  { title: 'a loop of programs', command: 'echo go; for i in 1 2 3; do sleep 30; done; echo no', program: 'sleep' },
  { title: 'a loop of the shell alone', command: 'echo go; while true; do true; done; echo no' },
  {
    title: 'a loop of the shell alone, whose last exit code was above 128',
    command: 'f() { return 142; }; echo go; until f; do f; done; echo no',
  },
  { title: 'a function', command: 'f() { sleep 30; echo no; }; echo go; f; echo no', program: 'sleep' },
  { title: 'a subshell', command: 'echo go; (sleep 30; echo no); echo no', program: 'sleep' },
  { title: 'a command substitution', command: 'echo go; x=$(sleep 30); echo no' },
  { title: 'a sourced file', command: "echo 'echo go; sleep 30; echo no' >f; . ./f; echo no", program: 'sleep' },
  { title: 'another shell', command: 'echo go; sh -c "sleep 30; echo no"; echo no', program: 'sleep' },
  {
    title: 'a program with variables and a directory of its own',
    command: 'echo go; sleep 30; echo no',
    program: 'sleep',
    options: { env: { K: 'v' }, cwd: '/' },
  },
  {
    title: 'a program on the terminal',
    command: 'echo go; sleep 30; echo no',
    program: 'sleep',
    options: { tty: true },
    expected: { ...INTERRUPTED, stdout: /^go\r\n(\r\n)?$/ },
  },
  {
    title: 'a program, where the user traps INT',
    command: 'trap "echo got" INT; echo go; sleep 30; echo "after $?"',
    program: 'sleep',
    expected: { stdout: 'go\ngot\nafter 130\n' },
    differences: { bash: { ...INTERRUPTED, because: TRAP_IS_FOR_THE_SHELL } },
  },
  {
    title: 'a loop of the shell, where the user’s trap exits',
    command: 'trap "echo got; exit 5" INT; echo go; while true; do true; done; echo no',
    expected: { stdout: 'go\ngot\n', exitCode: 5 },
  },
  {
    title: 'a program that traps INT itself',
    command: `sh -c 'trap "echo got; exit 5" INT; echo go; while :; do sleep 0.01; done'`,
    program: 'sleep',
    expected: { stdout: 'go\ngot\n', exitCode: 5 },
  },
  {
    title: 'SIGTERM to a program',
    command: 'echo go; sleep 30; echo $?',
    program: 'sleep',
    signal: 'SIGTERM',
    expected: { stdout: 'go\n143\n' },
    differences: { sh: { stdout: 'go\n143\n', stderr: 'Terminated\n', because: 'it names the signal on stderr' } },
  },
];

/**
 * Signals to what runs. Each time the whole command ends, and the session goes on with the same shell.
 * @param isExact whether the platform sees what a signal has met: else it may be lost in a loop of short programs
 */
export function interruptTests(shell: ShellName, open: () => Promise<TestSession>, isExact: boolean): void {
  for (const row of ROWS) {
    const difference = row.differences?.[shell];
    test(difference ? `${row.title} (${shell}: ${difference.because})` : row.title, async () => {
      await using session = await open();
      const { pid } = session;
      const result = await end(session, row);
      expectResult(result, difference ?? row.expected ?? INTERRUPTED, row.command, session.directory);
      expectResult(await session.run(alive.command), alive.expected, alive.command, session.directory);
      expect(session.pid).toBe(pid);
    });
  }
  trapTests(open);
  raceTests(open, isExact ? HASTY_INTERRUPTS : FEW_HASTY_INTERRUPTS);
  if (isExact) shortProgramTests(open);
}

/** Runs a row's command until it can be signalled, signals it, and gives its result. */
async function end(session: TestSession, row: InterruptRow): Promise<Result> {
  const running = session.start(row.command, row.options);
  await running.prints('go');
  if (row.program !== undefined) await session.runsProgram(row.program);
  await session.signal(running, row.signal ?? 'SIGINT');
  return running.result();
}

function trapTests(open: () => Promise<TestSession>): void {
  test('a trap on INT stays what the user made it, through interrupts and exits', async () => {
    await using session = await open();
    const listed = () => session.run('trap').then(({ stdout }) => stdout);
    await session.run("trap 'echo got' INT");
    const before = await listed();
    expect(before).toMatch(/echo got/);
    expect((await session.run('exit 10')).exitCode).toBe(10);
    expect(await listed()).toBe(before);
    await end(session, { title: 'a loop', command: 'echo go; for i in 1 2 3; do sleep 0.1; done' });
    expect(await listed()).toBe(before);
    await session.run("trap '' INT");
    expect(await listed()).toMatch(/''/);
  });

  test('an ignored interrupt is ignored by the command’s programs too', async () => {
    await using session = await open();
    await session.run("trap '' INT");
    const running = session.start('echo go; sleep 0.2; echo "after $?"');
    await running.prints('go');
    await session.runsProgram('sleep');
    await session.signal(running, 'SIGINT');
    expectResult(await running.result(), { stdout: 'go\nafter 0\n' }, 'sleep', session.directory);
  });
}

function raceTests(open: () => Promise<TestSession>, count: number): void {
  test('interrupts that come late or twice neither lose nor reach the next command', async () => {
    await using session = await open();
    const { pid } = session;
    for (let index = 0; index < count; index++) {
      const running = session.start(index % 2 === 0 ? 'sleep 0.01' : 'echo go; while true; do true; done');
      if (index % 2 === 1) await running.prints('go');
      const signals = [session.signal(running, 'SIGINT'), session.signal(running, 'SIGINT')];
      await running.result();
      const next = await session.run(`sleep 0.001; echo ${index}`);
      expectResult(next, { stdout: `${index}\n` }, 'echo', session.directory);
      await Promise.all(signals);
    }
    expect(session.pid).toBe(pid);
  });

  test('a time-out gives what has come, and ends what runs', async () => {
    await using session = await open();
    const result = await session.run('echo part; sleep 30; echo no', { timeoutMs: 200 });
    expectResult(result, { stdout: 'part\n', exitCode: 124, status: 'timed_out' }, 'sleep', session.directory);
    expectResult(await session.run(alive.command), alive.expected, alive.command, session.directory);
  });
}

function shortProgramTests(open: () => Promise<TestSession>): void {
  test('an interrupt ends a loop of short programs, whichever of them it meets, and however far that one is', async () => {
    await using session = await open();
    const { pid } = session;
    for (let index = 0; index < HASTY_INTERRUPTS; index++) {
      const running = session.start('echo go; while :; do /bin/true; done');
      await running.prints('go');
      await session.signal(running, 'SIGINT');
      expectResult(await running.result(), INTERRUPTED, `loop ${index}`, session.directory);
    }
    expect(session.pid).toBe(pid);
  });

  test.each([
    ['a pipeline, however much of it has been started', 'sleep 30 | cat && echo no'],
    // A fork of dash catches the signal, and forgets it when it execs.
    ['a program that is a shell, however far its own program is', 'sh -c "sleep 30" && echo no'],
  ])('an interrupt ends %s', async (_, command) => {
    await using session = await open();
    for (let index = 0; index < HASTY_PIPELINES; index++) {
      const running = session.start(`echo go; ${command}`);
      await running.prints('go');
      await session.signal(running, 'SIGINT');
      expectResult(await running.result(), INTERRUPTED, `${command} ${index}`, session.directory);
    }
  });

  test('a time-out of a loop of short programs leaves the shell as it is', async () => {
    await using session = await open();
    const { pid } = session;
    const result = await session.run('while :; do /bin/true; done', { timeoutMs: 100 });
    expectResult(result, { exitCode: 124, status: 'timed_out' }, 'loop', session.directory);
    expectResult(await session.run(alive.command), alive.expected, alive.command, session.directory);
    expect(session.pid).toBe(pid);
  });
}
