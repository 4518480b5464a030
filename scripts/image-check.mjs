// Builds the file system of the image from deploy/docker/Dockerfile without a container engine, runs the daemon in it as a
// container, and checks that it serves and ends. Takes a minute or two, needs root, mmdebstrap and bwrap.
// Usage: npm run check:image
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { startContainer } from './image/container.mjs';
import { readDockerfile } from './image/dockerfile.mjs';
import { buildStage, makeBase, which } from './image/file-system.mjs';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const DOCKERFILE = join(ROOT, 'deploy/docker/Dockerfile');
/** Time for the daemon to become ready, and to end, in milliseconds. */
const START_MS = 15_000;
const STOP_MS = 6000;

const missing = ['mmdebstrap', 'bwrap', 'nsenter', 'setpriv', 'npm'].filter((program) => which(program) === undefined);
if (process.getuid() !== 0 || missing.length > 0) {
  const why = missing.length > 0 ? `there is no ${missing.join(', no ')}` : 'it needs root';
  console.error(`image-check: cannot be run here: ${why}`);
  process.exit(2);
}

const directory = mkdtempSync(join(tmpdir(), 'shell-adapter-image-'));
try {
  const stages = readDockerfile(readFileSync(DOCKERFILE, 'utf8'));
  const { root, state } = build(stages);
  await check(root, stages.at(-1), state);
  console.log('image-check: passed');
} catch (error) {
  console.error(`image-check: FAILED: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** Builds all stages; gives the root of the last one, with its variables and its directory. */
function build(stages) {
  const base = join(directory, 'base');
  const [, release = ''] = /-(\w+)-slim$/.exec(stages[0].from) ?? [];
  const start = performance.now();
  makeBase(base, release);
  report(`FROM ${stages[0].from} (Debian ${release} with the Node.js of this machine)`, performance.now() - start);
  const roots = new Map();
  let last;
  for (const [index, stage] of stages.entries()) {
    const root = join(directory, `stage-${String(index)}`);
    execFileSync('cp', ['-a', base, root]);
    const state = buildStage(root, stage, { context: ROOT, stages: roots, onStep: report });
    roots.set(stage.name ?? String(index), root);
    last = { root, state };
  }
  return last;
}

async function check(root, stage, state) {
  console.log(`size: ${execFileSync('du', ['-sm', root], { encoding: 'utf8' }).split('\t')[0]} MB`);
  const container = startContainer(root, stage, state, join(directory, 'volumes'));
  try {
    const start = performance.now();
    expect(
      await container.isHealthy(START_MS),
      true,
      () => `the HEALTHCHECK does not pass; it printed:\n${container.output}`,
    );
    report('ready', performance.now() - start);
    for (const path of ['/healthz', '/readyz']) {
      const status = container.exec([
        'node',
        '-e',
        `fetch('http://127.0.0.1:8087${path}').then(({ status }) => console.log(status))`,
      ]);
      expect(status.trim(), '200', () => `${path} answers ${status}`);
    }
    const printed = container.exec(['shell-adapter', 'exec', 'echo $((6 * 7)) $(id -u) $PWD; git --version >&2']);
    expect(printed, '42 10001 /workspace\n', () => `a command printed ${JSON.stringify(printed)}`);
    const token = container.exec(['stat', '-c', '%a', '/var/lib/shell-adapter/token']).trim();
    expect(token, '600', () => `the file of the first token has the mode ${token}`);
    expect(container.exec(['cat', '/proc/1/comm']), 'tini\n', () => 'process 1 is not tini');
    const stopping = performance.now();
    expect(await container.stop(), 0, () => `the daemon ended badly:\n${container.output}`);
    expect(performance.now() - stopping < STOP_MS, true, () => 'the daemon took too long to end');
    report('ended by SIGTERM', performance.now() - stopping);
  } finally {
    container.kill();
  }
}

function expect(found, wanted, explain) {
  if (found !== wanted) throw new Error(explain());
}

function report(what, ms) {
  console.log(`${(ms / 1000).toFixed(1).padStart(6)} s  ${what}`);
}
