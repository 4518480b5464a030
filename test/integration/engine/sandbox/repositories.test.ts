import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Repositories } from '../../../../src/engine/sandbox/sandbox.js';

let workspace: string;
beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), 'shell-adapter-repositories-'));
});
afterEach(() => {
  vi.useRealTimers();
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

  it('finds what has come since, also where nothing had changed for long', () => {
    const repositories = new Repositories(workspace);
    const expanded = () => repositories.expand(['.git/config']).slice(1);
    make('early');
    expect(expanded()).toEqual([]);
    make('early/.git/worktrees/w');
    expect(expanded()).toEqual(['early/.git/config']);
    vi.setSystemTime(Date.now() + 10_000);
    expect(expanded()).toEqual(['early/.git/config']);
    writeFileSync(join(workspace, 'early/.git/worktrees/w/gitdir'), '');
    expect(expanded()).toEqual(['early/.git/config', 'early/.git/worktrees/w/gitdir']);
    make('early/.git/modules/m');
    expect(expanded()).toHaveLength(2);
    writeFileSync(join(workspace, 'early/.git/modules/m/HEAD'), '');
    expect(expanded()).toContain('early/.git/modules/m/config');
    make('later/.git');
    expect(expanded()).toContain('later/.git/config');
    rmSync(join(workspace, 'early'), { recursive: true });
    expect(expanded()).toEqual(['later/.git/config']);
  });

  it('is bounded in directories and repositories', () => {
    for (let index = 0; index < 100; index++) make(`r${index}/.git`);
    expect(new Repositories(workspace).expand(['.git/config'])).toHaveLength(33);
  });
});
