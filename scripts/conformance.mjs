// Runs the trap suite: against daemons of its own, or with `--url http://HOST:PORT` against one that runs already.
// `--shell NAME` chooses the sessions' shell, `--platform posix` the platform of the daemons. Anything else goes to vitest: `npm run conformance -- -t D7`.
// `--gateway` runs it through a gateway, on a worker that it finds in Redis (needs redis-server and openssl).
// `--security` runs the security suite instead: `--tokens FILE` names a JSON file with tokens for the daemon at the address
// (docs/develop/testing.md), and `--json` prints the report for programs.
// `--peers` runs the traps at other systems instead, which it installs into a cache of this user, and at our own daemon, and writes the
// results (docs/reference/conformance.md): `npm run conformance -- --peers --only codex`.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { parseArgs } from 'node:util';

/** Our options, each with the variable that hands it over. */
const OPTIONS = {
  url: { type: 'string', variable: 'SHELL_ADAPTER_CONFORMANCE_URL' },
  shell: { type: 'string', variable: 'SHELL_ADAPTER_CONFORMANCE_SHELL' },
  platform: { type: 'string', variable: 'SHELL_ADAPTER_CONFORMANCE_PLATFORM' },
  gateway: { type: 'boolean', variable: 'SHELL_ADAPTER_CONFORMANCE_GATEWAY' },
  tokens: { type: 'string', variable: 'SHELL_ADAPTER_CONFORMANCE_TOKENS' },
  json: { type: 'boolean', variable: 'SHELL_ADAPTER_CONFORMANCE_JSON' },
  security: { type: 'boolean' },
  peers: { type: 'boolean' },
  only: { type: 'string' },
};

const { values, tokens } = parseArgs({
  options: Object.fromEntries(Object.entries(OPTIONS).map(([name, { type }]) => [name, { type }])),
  strict: false,
  tokens: true,
  allowPositionals: true,
});
const own = new Set();
for (const token of tokens) {
  if (token.kind !== 'option' || !(token.name in OPTIONS)) continue;
  own.add(token.index);
  const takesNext = OPTIONS[token.name].type === 'string' && token.inlineValue === false;
  if (takesNext && token.value !== undefined) own.add(token.index + 1);
}
const rest = process.argv.slice(2).filter((_, index) => !own.has(index));

const env = { ...process.env };
for (const [name, { variable }] of Object.entries(OPTIONS)) {
  const value = values[name];
  if (variable !== undefined && (typeof value === 'string' || value === true)) env[variable] = String(value);
}
const vitest = new URL('../node_modules/vitest/vitest.mjs', import.meta.url).pathname;
const reporter = new URL('../test/conformance/security/reporter.ts', import.meta.url).pathname;
const outcomes = new URL('../test/conformance/peers/reporter.ts', import.meta.url).pathname;
const adapters = new URL('../test/conformance/peers/adapters', import.meta.url);

/** Runs vitest with these arguments; gives its exit code. */
const run = (args, variables = env) =>
  spawnSync(process.execPath, [vitest, 'run', ...args, ...rest], { stdio: 'inherit', env: variables }).status ?? 1;

/** Our own daemon first: its results have the list of traps. */
function runAtPeers() {
  const all = ['shell-adapter', ...readdirSync(adapters).map((file) => file.replace(/\.ts$/, ''))];
  const names = values.only === undefined ? all : values.only.split(',');
  const unknown = names.filter((name) => !all.includes(name));
  if (unknown.length > 0) {
    console.error(`no peer ${unknown.join(', ')}: there are ${all.join(', ')}`);
    return 1;
  }
  for (const name of names) {
    console.log(`${name} …`);
    // Traps that fail at a peer are results. Two workers: peers are slow to start.
    run(['--project', 'conformance', '--maxWorkers=2', '--reporter', outcomes], {
      ...env,
      SHELL_ADAPTER_CONFORMANCE_PEER: name,
    });
  }
  return 0;
}

const suite = values.security ? ['--project', 'security', '--reporter', reporter] : ['--project', 'conformance'];
process.exit(values.peers ? runAtPeers() : run(suite));
