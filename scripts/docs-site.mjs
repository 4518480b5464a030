// Builds the documentation site into docs/.vitepress/dist, or serves it while pages are written. Installs what it needs into
// docs/node_modules, which the package and its own installation do without. Usage: node scripts/docs-site.mjs build|dev
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const docs = join(dirname(fileURLToPath(import.meta.url)), '../docs');
const installed = join(docs, 'node_modules/.package-lock.json');
const lock = join(docs, 'package-lock.json');

/** Runs a program in docs/. Returns its exit code. */
const spawn = (program, ...args) => spawnSync(program, args, { cwd: docs, stdio: 'inherit' }).status ?? 1;

/** Runs a program in docs/; ends this one when it fails. */
function run(program, ...args) {
  const status = spawn(program, ...args);
  if (status !== 0) process.exit(status);
}

const runTool = (path, ...args) => run(process.execPath, join(docs, 'node_modules', path), ...args);

const [mode] = process.argv.slice(2);
if (mode !== 'build' && mode !== 'dev') {
  console.error('Usage: node scripts/docs-site.mjs build|dev');
  process.exit(2);
}
if (!existsSync(installed) || statSync(installed).mtimeMs < statSync(lock).mtimeMs) {
  console.error('docs-site: installing the tools of the site (the first time only)…');
  const options = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
  // npm ci gives up where a registry lacks packages for other platforms; npm install does not.
  if (spawn('npm', 'ci', ...options) !== 0) run('npm', 'install', '--no-save', ...options);
}
rmSync(join(docs, 'api'), { recursive: true, force: true });
runTool('typedoc/bin/typedoc', '--logLevel', 'Warn');
runTool('vitepress/bin/vitepress.js', mode);
