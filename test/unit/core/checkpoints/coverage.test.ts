import { describe, expect, it } from 'vitest';

import { findUncovered } from '../../../../src/core/checkpoints.js';

const UNCOVERED = [
  { path: '.git', reason: 'git_directory' },
  { path: 'data/large', reason: 'too_large' },
  { path: 'vendor/lib/.git', reason: 'git_directory' },
  { path: 'mounted', reason: 'other_file_system' },
  { path: 'state', reason: 'own' },
] as const;

const gapOf = (path: string, sparesGit = false) => findUncovered([{ path, sparesGit }], UNCOVERED)?.path;

describe('what a checkpoint does not contain of lost files', () => {
  it.each([
    ['a directory above it', 'data', 'data/large'],
    ['the file itself', 'data/large', 'data/large'],
    ['a pattern that matches a directory above it', 'dat*', 'data/large'],
    ['a pattern that matches it', 'data/l?rge', 'data/large'],
    ['a file in another file system', 'mounted/deep/file', 'mounted'],
    ['a directory with a repository', 'vendor', 'vendor/lib/.git'],
    ['a directory of the daemon', 'state', 'state'],
    ['everything', '', '.git'],
  ])('%s', (_, path, expected) => {
    expect(gapOf(path)).toBe(expected);
  });

  it.each([
    ['a directory beside it', 'build'],
    ['a name that only begins alike', 'data/larger'],
    ['a pattern that does not match it', 'data/*.o'],
    ['a pattern in another directory', 'src/l*'],
  ])('is nothing for %s', (_, path) => {
    expect(gapOf(path)).toBeUndefined();
  });

  it('is no directory of git where those stay', () => {
    expect(gapOf('vendor', true)).toBeUndefined();
    expect(gapOf('', true)).toBe('data/large');
  });
});
