// Runs the fuzzers against the built daemon: `npm run fuzz -- --minutes 10 policy drivers`. All of them by default, for a minute, in
// equal parts. `--seconds N` gives the time in seconds, `--inputs N` the most inputs of each, `--seed N` repeats an earlier run. A failure is saved in test/fuzz/corpus.
import { spawnSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';

const FUZZERS = ['protocol', 'policy', 'drivers'];

const { values, positionals } = parseArgs({
  options: {
    minutes: { type: 'string' },
    seconds: { type: 'string' },
    inputs: { type: 'string' },
    seed: { type: 'string' },
  },
  allowPositionals: true,
});
const chosen = positionals.length > 0 ? positionals : FUZZERS;
const seconds = values.seconds === undefined ? Number(values.minutes ?? 1) * 60 : Number(values.seconds);
const seed = Number(values.seed ?? randomInt(2 ** 31));

const unknown = chosen.filter((name) => !FUZZERS.includes(name));
if (unknown.length > 0) fail(`there is no fuzzer ${unknown.join(', ')}; give any of: ${FUZZERS.join(', ')}`);
if (!(seconds > 0)) fail('--minutes and --seconds take a number above 0');
if (values.inputs !== undefined && !(Number(values.inputs) > 0)) fail('--inputs takes a number above 0');
if (!Number.isInteger(seed)) fail('--seed takes a whole number');

const vitest = new URL('../node_modules/vitest/vitest.mjs', import.meta.url).pathname;
const files = chosen.map((name) => `test/fuzz/${name}/`);
const { status } = spawnSync(process.execPath, [vitest, 'run', '--project', 'fuzz', ...files], {
  stdio: 'inherit',
  env: {
    ...process.env,
    FUZZ_SECONDS: String(seconds / chosen.length),
    FUZZ_SEED: String(seed),
    ...(values.inputs !== undefined && { FUZZ_INPUTS: values.inputs }),
  },
});
process.exit(status ?? 1);

function fail(message) {
  console.error(`fuzz: ${message}`);
  process.exit(2);
}
