// Loads a real daemon with random work, kills, slow clients and full disks, and looks for what is left: `npm run soak -- --minutes 10`.
// `--seed N` repeats the choices of an earlier run, `--json` prints the report for programs. Build first.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';

/** Shorter runs have no time for a warm-up. */
const FEWEST_MINUTES = 1;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed ?? randomInt(2 ** 31));
if (!(minutes >= FEWEST_MINUTES)) fail(`--minutes takes a number of at least ${FEWEST_MINUTES}`);
if (!Number.isInteger(seed)) fail('--seed takes a whole number');

const vitest = new URL('../node_modules/vitest/vitest.mjs', import.meta.url).pathname;
const reporter = new URL('../test/soak/quiet-reporter.ts', import.meta.url).pathname;
const args = [
  vitest,
  'run',
  '--project',
  'soak',
  '--disableConsoleIntercept',
  '--silent=false',
  '--reporter',
  reporter,
];
const { status } = spawnSync(process.execPath, args, {
  stdio: 'inherit',
  env: {
    ...process.env,
    SOAK_MINUTES: String(minutes),
    SOAK_SEED: String(seed),
    ...(values.json && { SOAK_JSON: '1' }),
  },
});
process.exit(status ?? 1);

function fail(message) {
  console.error(`soak: ${message}`);
  process.exit(2);
}
