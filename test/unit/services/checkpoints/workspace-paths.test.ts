import { describe, expect, it } from 'vitest';

import { workspacePaths } from '../../../../src/services/checkpoints/checkpoints.js';

/** The real path, and the one with a link in it. */
const ROOTS = ['/srv/real', '/home/ada/work'];

describe('workspacePaths', () => {
  it.each([
    ['src', 'src'],
    ['src/', 'src'],
    ['./src//main.c', 'src/main.c'],
    ['a/../b', 'b'],
    ['..hidden/..', ''],
    ['..x', '..x'],
    ['.', ''],
    ['./', ''],
    ['/srv/real', ''],
    ['/srv/real/', ''],
    ['/srv/real/a b', 'a b'],
    ['/home/ada/work/src', 'src'],
    ['/srv/real/../real/x', 'x'],
    ['.gitignore', '.gitignore'],
    [' ', ' '],
    ['caf\u00e9', 'caf\u00c3\u00a9'],
  ])('%j is %j', (path, expected) => {
    expect(workspacePaths([path], ROOTS)).toEqual([expected]);
  });

  it('is everything when nothing is named', () => {
    expect(workspacePaths(undefined, ROOTS)).toEqual(['']);
  });

  it.each(['..', '../x', 'a/../..', '/', '/srv', '/srv/realm', '/srv/real/..', '/etc/passwd', '/home/ada'])(
    '%j is refused: it is outside',
    (path) => {
      expect(() => workspacePaths(['ok', path], ROOTS)).toThrow(/outside of the workspace/);
    },
  );

  it.each(['.git', 'a/.git', '.git/config', '/srv/real/.git/hooks/pre-commit', 'vendor/lib/.git/HEAD'])(
    '%j is refused: checkpoints have nothing of it',
    (path) => {
      expect(() => workspacePaths([path], ROOTS)).toThrow(/git directory/);
    },
  );
});
