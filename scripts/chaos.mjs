// Has clients work while nodes of a cluster are frozen, killed and cut off, and Redis is emptied: `npm run chaos -- --minutes 10`.
// `--seed N` repeats the choices of an earlier run. With `--nodes`, nodes that run sessions, too, are in place of gateways.
// Build first; it needs redis-server.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string' },
    nodes: { type: 'boolean', default: false },
  },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed ?? randomInt(2 ** 31));
if (!(minutes > 0)) fail('--minutes takes a number above 0');
if (!Number.isInteger(seed)) fail('--seed takes a whole number');

console.log(`chaos for ${minutes} min, seed ${seed}`);
const vitest = new URL('../node_modules/vitest/vitest.mjs', import.meta.url).pathname;
const reporter = new URL('../test/soak/quiet-reporter.ts', import.meta.url).pathname;
const args = ['--project', 'cluster', '--disableConsoleIntercept', '--silent=false', '--reporter', reporter];
const { status } = spawnSync(process.execPath, [vitest, 'run', ...args, 'test/cluster/chaos'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    CLUSTER_TESTS: 'required',
    CHAOS_MINUTES: String(minutes),
    CHAOS_SEED: String(seed),
    CHAOS_ROLE: values.nodes ? 'node' : 'gateway',
  },
});
process.exit(status ?? 1);

function fail(message) {
  console.error(`chaos: ${message}`);
  process.exit(2);
}
