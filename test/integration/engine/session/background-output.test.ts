import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { ShellHarness } from '../../../contract/shells/harness.js';

let bench: ShellHarness;

beforeAll(async () => {
  bench = await ShellHarness.start('bash');
});

afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  expect(await bench.leftovers()).toEqual({ processes: [], descriptors: 0 });
});

it('background jobs wait for a slow client as their command did', async () => {
  await using session = await bench.openSession();
  const running = session.start('yes &');
  await running.result();
  const { stdout } = running.command;
  session.hold(running, true);
  await sleep(50);
  const held = stdout.bytes;
  await sleep(50);
  expect(stdout.bytes).toBe(held);
  session.hold(running, false);
  while (stdout.bytes === held) await sleep(1);
  await session.run('kill %1; wait');
});
