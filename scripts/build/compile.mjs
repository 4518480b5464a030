// Compiles src to dist/, with the shell drivers beside the compiler's output. dist/ is made anew.
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const compiler = join(root, 'node_modules/@typescript/native/bin/tsc');

rmSync(join(root, 'dist'), { recursive: true, force: true });
// Types are checked by check:types, not here: the build of a user takes a fifth of the time without it.
execFileSync(process.execPath, [compiler, '-p', join(root, 'tsconfig.build.json'), '--noCheck'], {
  cwd: root,
  stdio: 'inherit',
});
await writeRequestFacts();
cpSync(join(root, 'src/engine/shells/drivers'), join(root, 'dist/engine/shells/drivers'), { recursive: true });

/** Writes what is looked up of requests as data into its module, which then needs neither their schemas nor zod. */
async function writeRequestFacts() {
  const file = join(root, 'dist/core/protocol/request-facts.js');
  const { REQUEST_FACTS } = await import(pathToFileURL(file).href);
  writeFileSync(file, `export const REQUEST_FACTS = ${JSON.stringify(REQUEST_FACTS)};\n`);
}
