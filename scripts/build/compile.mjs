// Compiles src to dist/, with the shell drivers beside the compiler's output. dist/ is made anew.
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const compiler = join(root, 'node_modules/@typescript/native/bin/tsc');

// Types are checked by check:types, not here: the build of a user takes a fifth of the time without it.
const compile = () =>
  execFileSync(process.execPath, [compiler, '-p', join(root, 'tsconfig.build.json'), '--noCheck'], {
    cwd: root,
    stdio: 'inherit',
  });

rmSync(join(root, 'dist'), { recursive: true, force: true });
compile();
if (await writeRequestFacts()) compile();
cpSync(join(root, 'src/engine/shells/drivers'), join(root, 'dist/engine/shells/drivers'), { recursive: true });

/** Writes what is looked up of requests without their schemas; tells whether their definitions have changed since. */
async function writeRequestFacts() {
  const { REQUEST_FACTS_FILE, renderRequestFacts } = await import('../docs/request-facts.mjs');
  const file = join(root, REQUEST_FACTS_FILE);
  const facts = renderRequestFacts();
  if (readFileSync(file, 'utf8') === facts) return false;
  writeFileSync(file, facts);
  return true;
}
