import { describe, expect, it } from 'vitest';

import { sandboxVariables } from '../../../../src/core/sandbox.js';

describe('sandboxVariables', () => {
  it.each([
    ['a directory that is read-only inside', '/home/me/tmp', { TMPDIR: '/tmp' }],
    ['one in the machine’s /tmp, which is another inside', '/tmp/mine', { TMPDIR: '/tmp' }],
    ['one whose name begins as the workspace’s', '/work-tmp', { TMPDIR: '/tmp' }],
    ['/tmp', '/tmp', {}],
    ['/dev/shm', '/dev/shm', {}],
    ['the workspace', '/work', {}],
    ['one in the workspace', '/work/tmp', {}],
  ])('TMPDIR that is %s', (_, directory, expected) => {
    expect(sandboxVariables({ TMPDIR: directory }, '/work')).toEqual(expected);
  });

  it('leaves out the directory of services of which nothing is seen', () => {
    expect(sandboxVariables({ XDG_RUNTIME_DIR: '/run/user/1000', HOME: '/home/me' }, '/work')).toEqual({
      XDG_RUNTIME_DIR: undefined,
    });
  });

  it('leaves an environment alone that has neither', () => {
    expect(sandboxVariables({ PATH: '/bin' }, '/work')).toEqual({});
  });
});
