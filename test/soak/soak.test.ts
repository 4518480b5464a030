import { expect, test } from 'vitest';

import { judge, lineOf, textOf } from './report.js';
import { soak } from './soak.js';

const MINUTES = Number(process.env['SOAK_MINUTES']);
const SEED = Number(process.env['SOAK_SEED'] ?? 1);
const IS_JSON = process.env['SOAK_JSON'] !== undefined;
/** What the last round and the end may take, in milliseconds. */
const MARGIN_MS = 300_000;

test(
  'a daemon under random work, kills, slow clients and full disks leaves nothing behind',
  async () => {
    const report = await soak(MINUTES, SEED, (census, counts) => {
      process.stderr.write(`${lineOf(census, counts)}\n`);
    });
    const verdict = judge(report);
    process.stdout.write(`${IS_JSON ? JSON.stringify({ ...report, verdict }, null, 2) : textOf(report, verdict)}\n`);
    expect(verdict.problems).toEqual([]);
  },
  MINUTES * 60_000 + MARGIN_MS,
);
