import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { Worktrees } from '../../../../src/engine/instance/worktrees.js';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'shell-adapter-worktrees-'));
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

const runIn = (cwd: string, text: string) => {
  execFileSync('/bin/bash', ['-ec', text], { cwd });
};

it('a patch that is longer than what a process may print is cut, and no error', async () => {
  runIn(directory, 'git init -q r; cd r; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x');
  const liveness = { isLive: () => false };
  await using worktrees = new Worktrees(join(directory, 'trees'), 'one', liveness as never, process.env['PATH'] ?? '');
  await using tree = await worktrees.make(join(directory, 'r'));
  runIn(tree.path, 'yes "$(printf %0999d 0)" | head -c 105000000 > large; echo b > small');
  const { changes, patch, warning } = await tree.changes();
  expect(changes.map(({ path }) => path)).toEqual(['large', 'small']);
  expect(patch).toHaveLength(16 * 1024 * 1024);
  expect(warning).toBeUndefined();
});
