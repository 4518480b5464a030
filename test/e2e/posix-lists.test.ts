import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect } from 'vitest';

import { daemonTest } from '../support/daemon-test.js';
import { settled } from '../support/measure.js';

const PRELOAD = fileURLToPath(new URL('../fixtures/counted-ps.mjs', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'shell-adapter-ps-'));
const file = join(folder, 'runs');
/** A machine that is busy may sample a command, or run ps(1) anew where a run would have served: not each time. */
const ROUNDS = 5;

const it = daemonTest({
  settings: { adapter: { platform: 'posix' } },
  env: { NODE_OPTIONS: `--import=${PRELOAD}`, PS_RUNS: file },
});

beforeAll(() => {
  writeFileSync(file, '');
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const countMarks = (mark: string) => readFileSync(file, 'utf8').split(mark).length - 1;
const countRuns = () => countMarks('.');
const countMeasurements = () => countMarks('+');

/** The fewest runs of ps(1) that something takes in some rounds, with what it has started ahead of need. */
async function fewest(
  act: () => Promise<unknown>,
  after: () => Promise<unknown> = () => Promise.resolve(),
  count = countRuns,
) {
  const counts: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = await settled(count);
    await act();
    counts.push((await settled(count)) - before);
    await after();
  }
  return Math.min(...counts);
}

describe('on the platform posix, ps is run', () => {
  it('once to open a session, for the shell that is made ready for the next one', async ({ client }) => {
    let session_id = '';
    const open = async () => (session_id = await client.openSession());
    expect(await fewest(open, () => client.request('close_session', { session_id }))).toBe(1);
  });

  it('once for an echo in a session, and once to measure it, or twice on a busy machine', async ({ client }) => {
    const session = await client.openSession();
    const echo = async () => {
      expect(await client.run('echo hi', session)).toMatchObject({
        stdout: 'hi\n',
        resource_usage: { cpu_ms: expect.any(Number) as number },
      });
    };
    expect(await fewest(echo)).toBe(1);
    // While ps(1) is slower than it was at its best, each command lasts long enough to be sampled as well.
    expect([1, 2]).toContain(await fewest(echo, undefined, countMeasurements));
  });

  it('twice for a command without a session: at its end, and when what it has left is searched for', async ({
    client,
  }) => {
    const run = async () => {
      const before = countRuns();
      await client.run('echo hi');
      await expect.poll(() => countRuns() - before).toBeGreaterThan(1);
    };
    expect(await fewest(run)).toBe(2);
  });

  it('twice to close a session whose last command has just ended alone', async ({ client }) => {
    let session_id = '';
    const open = async () => {
      session_id = await client.openSession();
      await settled(countRuns);
    };
    await open();
    const close = async () => {
      await client.run('true', session_id);
      await client.request('close_session', { session_id });
    };
    expect(await fewest(close, open)).toBe(3);
  });
});
