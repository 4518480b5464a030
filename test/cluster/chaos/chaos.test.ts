import { describe, expect, it } from 'vitest';

import { IS_THOROUGH } from '../../support/rounds.js';
import { canRunRedis } from '../harness/redis.js';
import { runChaos } from './chaos.js';

/** `scripts/chaos.mjs` gives these. */
const MINUTES = Number(process.env['CHAOS_MINUTES'] ?? 1);
const SEED = Number(process.env['CHAOS_SEED'] ?? 1);
const ROLE = process.env['CHAOS_ROLE'] === 'node' ? 'node' : 'gateway';
const IS_TOLD = process.env['CHAOS_MINUTES'] !== undefined;
/** Time for the start, the last answers, and the end, in milliseconds. */
const MARGIN_MS = 240_000;

describe.skipIf(!canRunRedis)('a cluster whose nodes are frozen, killed and cut off', () => {
  it(
    'runs no command twice, answers every request, and keeps output whole',
    async () => {
      const report = await runChaos(
        { minutes: MINUTES, seed: SEED, role: ROLE, isBusy: IS_TOLD || IS_THOROUGH },
        (line) => {
          if (IS_TOLD) process.stderr.write(`${line}\n`);
        },
      );
      const counts = report.counts.map(([what, count]) => `  ${what.padEnd(50)} ${String(count).padStart(6)}\n`);
      if (IS_TOLD)
        process.stdout.write(
          `chaos of ${MINUTES} min, seed ${SEED}\n${counts.join('')}  most memory of all nodes: ${report.mostMib} MiB\n`,
        );
      expect(report.failures.length, report.failures.join('\n')).toBe(0);
      expect(Object.fromEntries(report.counts)['commands: once']).toBeGreaterThan(0);
    },
    MINUTES * 60_000 + MARGIN_MS,
  );
});
