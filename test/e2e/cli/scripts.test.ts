import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { makeFolder } from './support.js';

const PREPARE = fileURLToPath(new URL('../../../scripts/prepare', import.meta.url));

/** What the script itself needs of the system. */
const TOOLS = ['sh', 'dirname', 'find', 'head'];

/** Runs the script with nothing on PATH but its tools and these programs. */
function prepare(programs: Readonly<Record<string, string>>): {
  readonly status: number | null;
  readonly stderr: string;
} {
  using folder = makeFolder();
  for (const tool of TOOLS) {
    const path = execFileSync('sh', ['-c', 'command -v "$0"', tool], { encoding: 'utf8' }).trim();
    symlinkSync(path, join(folder.path, tool));
  }
  for (const [name, text] of Object.entries(programs)) {
    writeFileSync(join(folder.path, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  return spawnSync(PREPARE, [], { env: { PATH: folder.path }, encoding: 'utf8' });
}

describe('scripts/prepare, with which start and test begin', () => {
  it.each([
    ['no Node.js', {}, 'Node.js is not installed, or not on PATH. Version 20 or later is needed'],
    [
      'a Node.js that is too old',
      { node: 'case $1 in -p) echo 18 ;; *) echo v18.20.4 ;; esac' },
      'Node.js v18.20.4 is too old',
    ],
    ['no npm', { node: 'echo 20' }, 'npm is not installed, or not on PATH'],
  ])('says what to do when there is %s', (_what, programs, message) => {
    const { status, stderr } = prepare(programs);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^shell-adapter: /);
    expect(stderr).toContain(message);
  });
});

describe('the installation', () => {
  it('gives no warning on this Node.js: every engine is accepted, every install script is reviewed', () => {
    using folder = makeFolder();
    for (const file of ['package.json', 'package-lock.json']) {
      copyFileSync(fileURLToPath(new URL(`../../../${file}`, import.meta.url)), join(folder.path, file));
    }
    // What the lock file says is enough for these checks: nothing is fetched.
    const flags = [
      '--dry-run',
      '--offline',
      '--no-audit',
      '--no-fund',
      '--no-update-notifier',
      '--userconfig=/dev/null',
    ];
    const { status, stderr } = spawnSync('npm', ['ci', ...flags], {
      cwd: folder.path,
      env: { PATH: process.env['PATH'], HOME: folder.path },
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(status).toBe(0);
  });
});
