import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { findProgram } from '../../src/engine/shells/list.js';
import { PATH, ShellHarness } from './shells/harness.js';
import { HOSTILE_ROWS } from './shells/hostile-rows.js';
import { OUTPUT_ROWS } from './shells/output-rows.js';
import { ALIVE, LEFT_OUT, PWSH_ROWS } from './shells/pwsh-rows.js';
import { STATE_ROWS } from './shells/state-rows.js';
import { expectResult, sharedTitles } from './shells/table.js';

const isInstalled = findProgram('pwsh', PATH) !== undefined;
const WHY_NOT = 'skipped: pwsh is not installed, and Debian has no package of it; its driver stays untested';
const INTERRUPTED = { stdout: 'go\n', exitCode: 130, status: 'interrupted' } as const;

test('every row of the contract is there for pwsh, or left out for a reason', () => {
  const titles = sharedTitles([...OUTPUT_ROWS, ...STATE_ROWS, ...HOSTILE_ROWS]);
  expect([...PWSH_ROWS.map(({ title }) => title), ...LEFT_OUT.keys()].toSorted()).toEqual(titles.toSorted());
});

describe.skipIf(!isInstalled)(isInstalled ? 'pwsh' : `pwsh (${WHY_NOT})`, () => {
  let bench: ShellHarness;
  beforeAll(async () => {
    bench = await ShellHarness.start('pwsh');
  });
  afterAll(async () => {
    await bench[Symbol.asyncDispose]();
    expect(await bench.leftovers()).toEqual({ processes: [], descriptors: 0 });
  });

  test.each(PWSH_ROWS)('$title', async ({ steps }) => {
    await using session = await bench.openSession();
    for (const { command, expected, options } of steps) {
      expectResult(await session.run(command, options), expected, command, session.directory);
    }
  });

  test.each([
    ['a program', "'go'; sleep 30; 'no'", 'sleep'],
    ['a loop of PowerShell alone', "'go'; while ($true) { }; 'no'", undefined],
    ['a cmdlet', "'go'; Start-Sleep 30; 'no'", undefined],
    ['a function', "function f { sleep 30; 'no' }; 'go'; f; 'no'", 'sleep'],
  ])('an interrupt of %s ends the command, and not the shell', async (_title, command, program) => {
    await using session = await bench.openSession();
    const { pid } = session;
    const running = session.start(command);
    await running.prints('go');
    if (program !== undefined) await session.runsProgram(program);
    await session.signal(running, 'SIGINT');
    expectResult(await running.result(), INTERRUPTED, command, session.directory);
    expectResult(await session.run(ALIVE.command), ALIVE.expected, ALIVE.command, session.directory);
    expect(session.pid).toBe(pid);
  });

  test('a background job of a program does not hold its command up', async () => {
    await using session = await bench.openSession();
    const started = await session.run("sh -c 'sleep 30 &'; 'started'");
    expectResult(started, { stdout: 'started\n' }, 'sleep', session.directory);
    expect(started.backgroundProcesses.map(({ command }) => command)).toEqual(['sleep 30']);
  });
});
