// Checks the types of the daemon with its tests, and of the dashboard, by the native compiler of TypeScript 7. The package
// `typescript` stays at version 6: tools that ask the compiler by its API cannot use version 7.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const COMPILER = fileURLToPath(new URL('../node_modules/@typescript/native/bin/tsc', import.meta.url));
const PROJECTS = ['tsconfig.json', 'src/dashboard/tsconfig.json', 'test/unit/dashboard/tsconfig.json'];

const failed = PROJECTS.filter((project) => {
  const { status, error } = spawnSync(process.execPath, [COMPILER, '-p', project, '--noEmit'], { stdio: 'inherit' });
  if (error) throw error;
  return status !== 0;
});
process.exitCode = failed.length > 0 ? 1 : 0;
