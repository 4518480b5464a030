// Builds dist/: the compiler's output, the shell drivers beside it, the dashboard, and the executables main.js and shell-adapter.cjs, which
// load a bundle.
import { chmodSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'rolldown';

import './build/compile.mjs';
import { PACKS, writeCodeCache } from './build/code-cache.mjs';
import { buildDashboard } from './build/dashboard.mjs';
import { finishChunks } from './build/finish-chunks.mjs';
import { lightClient } from './build/light-client.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const main = join(dist, 'main.js');

/**
 * Packages that are not bundled: one has native code beside it, others are large and rarely needed, optional (ioredis, those of OpenTelemetry),
 * or (those of fastify) never used here. All others are, since finding and loading hundreds of files takes most of a short command's time, and a third of the
 * daemon's start.
 */
const SEPARATE =
  /^(?:node-pty|openai|undici|ioredis|light-my-request|@opentelemetry\/(?!api$).*|@fastify\/(?:ajv|fast-json-stringify)-compiler)(?:\/|$)/;

/** The program that npm installs. It starts without the loader of ES modules, which takes 4 ms of each start in Node.js 20. */
const program = join(dist, 'shell-adapter.cjs');

/** What main.js is once its modules are in the bundle. */
const LAUNCHER = `#!/usr/bin/env node
import { createRequire } from 'node:module';

createRequire(import.meta.url)('./shell-adapter.cjs');
`;

const worker = join(dist, 'engine/checkpoints/worker-main.js');

/** What the checkpoint worker's program is then. */
const WORKER_LAUNCHER = `import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

import { loadBundle } from '../../bundle/load-bundle.js';

const main = fileURLToPath(new URL('../../main.js', import.meta.url));
loadBundle(main, createRequire(main), { entry: 'checkpoint-worker.cjs' });
`;

await bundle();
finishChunks(join(dist, 'bundle'));
await buildDashboard(join(dist, 'dashboard'));
writeFileSync(main, LAUNCHER);
chmodSync(main, 0o755);
await writeProgram();
writeFileSync(worker, WORKER_LAUNCHER);
await writeCodeCache(main);

/**
 * Writes the programs as chunks: one for each subcommand, one for the checkpoint worker, and what they share. The other files of
 * dist/ stay: library, client, and the starter of one-shots, which is small.
 */
async function bundle() {
  const { CHUNK_PARAMETERS } = await import('../dist/bundle/load-bundle.js');
  await build({
    input: { main, 'checkpoint-worker': worker },
    platform: 'node',
    logLevel: 'warn',
    external: (id) => id.startsWith('node:') || SEPARATE.test(id),
    plugins: [lightClient(), { name: 'as-scripts', transform: toScript }],
    output: {
      dir: join(dist, 'bundle'),
      format: 'cjs',
      entryFileNames: '[name].cjs',
      chunkFileNames: 'chunk-[hash].cjs',
      banner: `(function (${CHUNK_PARAMETERS.join(', ')}) {`,
      footer: '})',
      // Names stay, for the traces of errors in the log.
      minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
    },
  });
}

/** Writes the loader as one script that calls itself. */
async function writeProgram() {
  await build({
    input: join(dist, 'bundle/load-bundle.js'),
    platform: 'node',
    logLevel: 'warn',
    external: /^node:/,
    output: {
      file: program,
      format: 'cjs',
      banner: '#!/usr/bin/env node',
      footer: `loadBundle(require('node:path').join(__dirname, 'main.js'), require, {
  pack: process.argv[2] === 'exec' ? '${PACKS.exec}' : '${PACKS.others}',
});`,
    },
  });
  chmodSync(program, 0o755);
}

/** Scripts have no `import.meta` and no `import()` of packages: the loader passes both. */
function toScript(code, id) {
  if (!id.startsWith(dist)) return undefined;
  const url = `new URL('./${relative(dist, id)}', host.mainUrl).href`;
  return code
    .replace(/^#!.*/, '')
    .replaceAll('import.meta.url', url)
    .replaceAll(/\bimport\('([^.'][^']*)'\)/g, (whole, name) =>
      SEPARATE.test(name) ? `host.importModule('${name}')` : whole,
    );
}
