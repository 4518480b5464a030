import { describe, expect, it } from 'vitest';

import { bubblewrapArguments, type SandboxPlan } from '../../../../src/core/sandbox.js';

const PLAN: SandboxPlan = {
  profile: 'workspace',
  hasNetwork: true,
  places: [],
  empty: { file: '/empty-file', directory: '/empty' },
  variables: {},
  cwd: '/work',
  isOnTerminal: true,
};

const textOf = (plan: Partial<SandboxPlan>): string => bubblewrapArguments({ ...PLAN, ...plan }).join(' ');

describe('bubblewrapArguments', () => {
  it('lays the root directory below all others, read-only', () => {
    expect(textOf({})).toMatch(/^--ro-bind \/ \/ /);
  });

  it('lays what is deeper over what is around it', () => {
    const text = textOf({
      places: [
        { path: '/tmp/work/.git/config', view: 'read-only' },
        { path: '/tmp/work', view: 'writable' },
        { path: '/tmp', view: 'temporary' },
      ],
    });
    const at = (part: string) => text.indexOf(part);
    expect(at('--tmpfs /tmp')).toBeGreaterThan(0);
    expect(at('--bind /tmp/work ')).toBeGreaterThan(at('--tmpfs /tmp'));
    expect(at('--ro-bind /tmp/work/.git/config')).toBeGreaterThan(at('--bind /tmp/work '));
  });

  it('lets the later of two for the same path hold', () => {
    const text = textOf({
      places: [
        { path: '/work', view: 'writable' },
        { path: '/work', view: 'read-only' },
      ],
    });
    expect(text.indexOf('--ro-bind /work')).toBeGreaterThan(text.indexOf('--bind /work'));
  });

  it.each([
    ['temporary', '--perms 1777 --size 536870912 --tmpfs /p'],
    ['shared-memory', '--perms 1777 --size 67108864 --tmpfs /p'],
    ['empty-file', '--ro-bind /empty-file /p'],
    ['empty-directory', '--ro-bind /empty /p'],
    ['devices', '--dev /p'],
    ['processes', '--proc /p'],
  ] as const)('shows %s', (view, expected) => {
    expect(textOf({ places: [{ path: '/p', view }] })).toContain(expected);
  });

  it.each(['frame', 'devices'] as const)('seals a place of kind %s after all that lies in it', (view) => {
    const text = textOf({
      places: [
        { path: '/p', view },
        { path: '/p/q', view: 'writable' },
      ],
    });
    expect(text.indexOf('--remount-ro /p')).toBeGreaterThan(text.indexOf('--bind /p/q'));
  });

  it.each([
    [{}, false],
    [{ hasNetwork: false }, true],
    [{ profile: 'strict' }, true],
    [{ profile: 'strict', hasNetwork: false }, true],
    [{ profile: 'strict', isInOwnNetwork: true }, false],
  ] as const)('%o has no network: %s', (plan, isCut) => {
    expect(textOf(plan).includes('--unshare-net')).toBe(isCut);
  });

  it('takes user namespaces from strict', () => {
    expect(textOf({ profile: 'strict' })).toContain('--unshare-user --disable-userns');
    expect(textOf({})).not.toContain('userns');
  });

  it('gives and takes variables', () => {
    const text = textOf({ variables: { TMPDIR: '/tmp', XDG_RUNTIME_DIR: undefined } });
    expect(text).toContain('--setenv TMPDIR /tmp --unsetenv XDG_RUNTIME_DIR --chdir');
  });

  it('leaves a program on a terminal in its session', () => {
    expect(textOf({})).not.toContain('--new-session');
    expect(textOf({ isOnTerminal: false })).toContain('--new-session');
  });

  it.each(['--cap-drop ALL', '--die-with-parent', '--unshare-pid'])('always has %s', (argument) => {
    expect(textOf({})).toContain(argument);
  });
});
