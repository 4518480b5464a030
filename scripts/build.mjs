// Builds dist/: the compiler's output, the shell drivers beside it, and an executable main.js.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from 'rolldown';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const main = join(dist, 'main.js');

/**
 * Packages that are not bundled: one has native code beside it, others are large and rarely needed, or (those of fastify) never
 * used here. All others are, since finding and loading hundreds of files takes most of a short command's time, and a third of the
 * daemon's start.
 */
const SEPARATE =
  /^(?:node-pty|openai|execa|pidusage|light-my-request|@fastify\/(?:ajv|fast-json-stringify)-compiler)(?:\/|$)/;

rmSync(dist, { recursive: true, force: true });
execFileSync(
  process.execPath,
  [join(root, 'node_modules/typescript/bin/tsc'), '-p', join(root, 'tsconfig.build.json')],
  {
    cwd: root,
    stdio: 'inherit',
  },
);
cpSync(join(root, 'src/engine/shells/drivers'), join(dist, 'engine/shells/drivers'), { recursive: true });
await bundle();
chmodSync(main, 0o755);

/**
 * Replaces main.js by a bundle with chunks beside it, one for each subcommand and what they share. The other files stay: library,
 * client, and the programs that run as processes of their own.
 */
async function bundle() {
  await build({
    input: main,
    platform: 'node',
    logLevel: 'warn',
    external: (id) => id.startsWith('node:') || SEPARATE.test(id),
    plugins: [
      {
        name: 'own-url',
        // A chunk stands in dist/; files beside a module are found from where the module stood.
        transform: (code, id) =>
          id.startsWith(dist) && code.includes('import.meta.url')
            ? code.replaceAll('import.meta.url', `new URL('./${relative(dist, id)}', import.meta.url).href`)
            : undefined,
      },
    ],
    output: {
      dir: dist,
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: 'chunk-[hash].js',
      // Names stay, for the traces of errors in the log.
      minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
    },
  });
}
