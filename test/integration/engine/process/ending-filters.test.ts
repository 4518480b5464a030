import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

import { afterEach, expect, it } from 'vitest';

import { linux } from '../../../../src/engine/platform/linux/linux.js';
import { findEndingFilters } from '../../../../src/engine/process/ending-filters.js';
import { eventually } from '../../../support/measure.js';

/** More than a pipe holds, and less than two of them: who writes it first ends, and who writes it last is held. */
const WRITE = 'head -c 100000 /dev/zero';
/** The same for two programs in a row, each of which holds as much as a pipe. */
const WRITE_MORE = 'head -c 230000 /dev/zero';

const shells: ChildProcess[] = [];

afterEach(async () => {
  for (const shell of shells.splice(0)) {
    const ended = once(shell, 'exit');
    process.kill(-(shell.pid ?? 0), 'SIGKILL');
    await ended;
  }
});

/** Runs a text until it has exactly these processes. */
async function run(text: string, programs: readonly string[]) {
  const shell = spawn('/bin/bash', ['-c', `${text}; :`], { stdio: ['ignore', 'ignore', 'inherit'], detached: true });
  shells.push(shell);
  const { list, argumentsOf } = linux.processes;
  const mine = () => list().filter(({ pid, group, state }) => group === shell.pid && pid !== group && state !== 'Z');
  const nameOf = (pid: number) => argumentsOf(pid)[0]?.replace(/^.*\//, '') ?? '';
  const names = () => mine().map(({ pid }) => nameOf(pid));
  await eventually(() => {
    expect(names().toSorted()).toEqual(programs);
  });
  return { left: mine(), nameOf };
}

it.each([
  ['what has only the rest of its input to read', `${WRITE} | cat | sleep 600`, ['cat', 'sleep'], ['cat']],
  [
    'several in a row, and the shell that waits for them',
    `${WRITE_MORE} | (cat | cat; :) | sleep 600`,
    ['bash', 'cat', 'cat', 'sleep'],
    ['bash', 'cat', 'cat'],
  ],
  ['a program that waits for time', ': | sleep 600', ['sleep'], []],
  ['a shell that waits for such a program', ': | (sleep 600; cat)', ['bash', 'sleep'], []],
  ['a reader of what goes on', '(sleep 600; :) | cat', ['bash', 'cat', 'sleep'], []],
])('%s', async (_, text, programs, filters) => {
  const { left, nameOf } = await run(text, programs);
  // A program may still be on its way to the place where it waits.
  await eventually(() => {
    const found = findEndingFilters(left, { tag: '', root: undefined, processes: linux.processes });
    expect(found.map(({ pid }) => nameOf(pid)).toSorted()).toEqual(filters);
  });
});
