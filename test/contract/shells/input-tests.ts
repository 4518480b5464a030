import { expect, test } from 'vitest';

import type { ShellName } from './harness.js';
import { alive, type Expected, expectResult } from './table.js';
import type { CommandOptions, TestSession } from './test-session.js';

interface InputRow {
  readonly title: string;
  readonly command: string;
  readonly options?: CommandOptions;
  readonly typed?: string;
  readonly isEndOfFile?: boolean;
  readonly isInterrupted?: boolean;
  readonly expected: Expected;
}

const ROWS: readonly InputRow[] = [
  {
    title: 'the shell’s own read',
    command: 'read x; echo "got $x"',
    typed: 'hello\n',
    expected: { stdout: 'got hello\n' },
  },
  {
    title: 'a program’s read, up to the end of file',
    command: 'cat; echo end',
    typed: 'hello\n',
    isEndOfFile: true,
    expected: { stdout: 'hello\nend\n' },
  },
  {
    title: 'an end of file alone, for the shell’s own read',
    command: 'read x; echo "got $x $?"',
    isEndOfFile: true,
    expected: { stdout: 'got  1\n' },
  },
  {
    title: 'an interrupted read',
    command: 'read x; echo no',
    isInterrupted: true,
    expected: { exitCode: 130, status: 'interrupted' },
  },
  {
    title: 'a command on the terminal, with its echo',
    command: 'read x; echo "got $x"',
    options: { tty: true },
    typed: 'hello\n',
    expected: { stdout: 'hello\r\ngot hello\r\n' },
  },
];

/** What is typed into the terminal, once the command waits for it. */
export function inputTests(shell: ShellName, open: () => Promise<TestSession>): void {
  for (const { title, command, options, typed = '', isEndOfFile, isInterrupted, expected } of ROWS) {
    test(title, async () => {
      await using session = await open();
      const running = session.start(command, options);
      await running.awaitsInput();
      if (isInterrupted) await session.signal(running, 'SIGINT');
      else session.type(typed, isEndOfFile);
      expectResult(await running.result(), expected, command, session.directory);
      expectResult(await session.run(alive.command), alive.expected, alive.command, session.directory);
    });
  }

  test('what nobody has read does not reach the next command', async () => {
    await using session = await open();
    const running = session.start('read x; echo "got $x"');
    await running.awaitsInput();
    session.type('first\nsecond\nthird');
    expect((await running.result()).stdout).toBe('got first\n');
    const next = session.start('read x; echo "got $x"');
    await next.awaitsInput();
    session.type('fresh\n');
    expect((await next.result()).stdout).toBe('got fresh\n');
  });

  test(`end of file at an idle ${shell} does not end the session`, async () => {
    await using session = await open();
    const { pid } = session;
    for (let index = 0; index < 20; index++) session.type('', true);
    expectResult(await session.run(alive.command), alive.expected, alive.command, session.directory);
    expect(session.pid).toBe(pid);
  });
}
