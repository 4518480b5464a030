import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { Repositories } from '../../../../src/engine/sandbox/repositories.js';

let workspace: string;
beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), 'shell-adapter-repositories-'));
});
afterEach(() => {
  rmSync(workspace, { recursive: true });
});

const make = (path: string) => mkdirSync(join(workspace, path), { recursive: true });

describe('repositories in a workspace', () => {
  it('adds the paths of `.git` for each nested repository', () => {
    make('.git');
    make('a/b/.git');
    expect(new Repositories(workspace).expand(['.git/config', '.envrc'])).toEqual([
      '.git/config',
      '.envrc',
      'a/b/.git/config',
    ]);
  });

  it('looks for none when no path is below `.git`', () => {
    make('a/.git');
    expect(new Repositories(workspace).expand(['.envrc'])).toEqual(['.envrc']);
  });

  it('follows no links, and skips directories of installed packages', () => {
    make('node_modules/x/.git');
    make('a/.git');
    symlinkSync('a', join(workspace, 'link'));
    expect(new Repositories(workspace).expand(['.git/config'])).toEqual(['.git/config', 'a/.git/config']);
  });

  it('looks again once its result is older than five seconds', () => {
    let now = 0;
    const repositories = new Repositories(workspace, () => now);
    expect(repositories.expand(['.git/config'])).toEqual(['.git/config']);
    make('later/.git');
    now = 4999;
    expect(repositories.expand(['.git/config'])).toHaveLength(1);
    now = 5001;
    expect(repositories.expand(['.git/config'])).toEqual(['.git/config', 'later/.git/config']);
  });

  it('is bounded in directories and repositories', () => {
    for (let index = 0; index < 100; index++) make(`r${index}/.git`);
    expect(new Repositories(workspace).expand(['.git/config'])).toHaveLength(33);
  });
});
