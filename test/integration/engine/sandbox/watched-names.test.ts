import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { isWatched, watchedNames } from '../../../../src/engine/sandbox/sandbox.js';

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'shell-adapter-home-'));
});

afterEach(() => {
  rmSync(home, { recursive: true });
});

/** Whether a file that appears there is noticed, given the patterns below the home directory. */
const notices = (path: string, ...patterns: string[]) =>
  isWatched(watchedNames(patterns.map((pattern) => join(home, pattern))), join(home, path));

describe('the names that are watched', () => {
  it('are those of the files and of every directory above them that exists', () => {
    mkdirSync(join(home, '.config/gh'), { recursive: true });
    expect(notices('.config/gh/hosts.yml', '.config/gh/hosts.yml')).toBe(true);
    expect(notices('.config/gh', '.config/gh/hosts.yml')).toBe(true);
    expect(notices('.config', '.config/gh/hosts.yml')).toBe(true);
    expect(notices('.config/hub', '.config/gh/hosts.yml')).toBe(false);
    expect(notices('.config/gh/config.yml', '.config/gh/hosts.yml')).toBe(false);
  });

  it('include directories that are to come, and nothing below them yet', () => {
    expect(notices('.config', '.config/gh/hosts.yml')).toBe(true);
    expect(notices('.config/gh', '.config/gh/hosts.yml')).toBe(false);
  });

  it('may be patterns, in the name and on the way', () => {
    mkdirSync(join(home, 'a1'));
    mkdirSync(join(home, 'b1'));
    expect(notices('site.pem', '*.pem')).toBe(true);
    expect(notices('a1/login', 'a*/login')).toBe(true);
    expect(notices('a2', 'a*/login')).toBe(true);
    expect(notices('b1/login', 'a*/login')).toBe(false);
  });

  it('end at a directory that is hidden with all it has', () => {
    mkdirSync(join(home, '.gnupg'));
    expect(notices('.gnupg', '.gnupg/**')).toBe(true);
    expect(notices('.gnupg/key', '.gnupg/**')).toBe(false);
  });

  it('leave out the root directory, in which everything would be watched', () => {
    expect([...watchedNames(['/etc/shadow*']).keys()]).toEqual(['/etc']);
  });
});
