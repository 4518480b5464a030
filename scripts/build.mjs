// Builds dist/: the compiler's output, the shell drivers beside it, and an executable main.js.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');

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
chmodSync(join(dist, 'main.js'), 0o755);
