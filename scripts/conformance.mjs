// Runs the trap suite: against daemons of its own, or with `--url http://HOST:PORT` against one that runs already.
// `--shell NAME` chooses the sessions' shell. Anything else goes to vitest: `npm run conformance -- -t D7`.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values, tokens } = parseArgs({
  options: { url: { type: 'string' }, shell: { type: 'string' } },
  strict: false,
  tokens: true,
  allowPositionals: true,
});
const own = new Set();
for (const token of tokens) {
  if (token.kind !== 'option' || !['url', 'shell'].includes(token.name)) continue;
  own.add(token.index);
  if (token.value !== undefined && token.inlineValue === false) own.add(token.index + 1);
}
const rest = process.argv.slice(2).filter((_, index) => !own.has(index));

const env = { ...process.env };
if (typeof values.url === 'string') env.SHELL_ADAPTER_CONFORMANCE_URL = values.url;
if (typeof values.shell === 'string') env.SHELL_ADAPTER_CONFORMANCE_SHELL = values.shell;
const vitest = new URL('../node_modules/vitest/vitest.mjs', import.meta.url).pathname;
const { status } = spawnSync(process.execPath, [vitest, 'run', '--project', 'conformance', ...rest], {
  stdio: 'inherit',
  env,
});
process.exit(status ?? 1);
