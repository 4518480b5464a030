import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildChildEnvironment } from '../../../../src/config/model/configuration.js';
import { load } from '../support.js';

const NO_RULES = { pass: [], set: {} };

const AGENT_DEFAULTS = {
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  MANPAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_CONFIG_COUNT: '2',
  GIT_CONFIG_KEY_0: 'core.fsmonitor',
  GIT_CONFIG_VALUE_0: 'false',
  GIT_CONFIG_KEY_1: 'safe.bareRepository',
  GIT_CONFIG_VALUE_1: 'explicit',
  DEBIAN_FRONTEND: 'noninteractive',
  TERM: 'dumb',
};

describe('the environment of shells', () => {
  it('has a PATH, a UTF-8 locale and what suits agents, even if the daemon has nothing', () => {
    expect(buildChildEnvironment({}, NO_RULES)).toEqual({
      ...AGENT_DEFAULTS,
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      LANG: 'C.UTF-8',
    });
  });

  it('has of the daemon what is on the list', () => {
    const passed = {
      PATH: '/p',
      HOME: '/h',
      USER: 'ada',
      LOGNAME: 'ada',
      LANG: 'de_DE.UTF-8',
      LC_TIME: 'C',
      TZ: 'Europe/Berlin',
      SHELL: '/bin/zsh',
      TMPDIR: '/t',
      XDG_RUNTIME_DIR: '/run/user/1',
    };
    expect(buildChildEnvironment(passed, NO_RULES)).toEqual({ ...AGENT_DEFAULTS, ...passed });
  });

  it('adds settings of git to those that are given', () => {
    const set = { GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'user.name', GIT_CONFIG_VALUE_0: 'Ada' };
    expect(buildChildEnvironment({}, { pass: [], set })).toMatchObject({
      GIT_CONFIG_COUNT: '3',
      GIT_CONFIG_KEY_0: 'user.name',
      GIT_CONFIG_KEY_1: 'core.fsmonitor',
      GIT_CONFIG_KEY_2: 'safe.bareRepository',
    });
  });

  it('has nothing else of the daemon', () => {
    const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,12}$/);
    const known = new Set(Object.keys(buildChildEnvironment({}, NO_RULES)));
    const listed = /^(PATH|HOME|USER|LOGNAME|LANG|LC_.*|TZ|SHELL|TMPDIR|XDG_RUNTIME_DIR)$/;
    fc.assert(
      fc.property(fc.dictionary(name, fc.string()), (env) => {
        const leaked = Object.keys(buildChildEnvironment(env, NO_RULES)).filter((key) => !known.has(key));
        expect(leaked.filter((key) => !listed.test(key))).toEqual([]);
      }),
    );
  });

  it.each([
    'SSH_AUTH_SOCK',
    'AWS_SECRET_ACCESS_KEY',
    'HISTFILE',
    'PWD',
    'NODE_OPTIONS',
    'LD_PRELOAD',
    'BASH_ENV',
    'PAGER2',
  ])('has no %s', (name) => {
    expect(buildChildEnvironment({ [name]: 'x' }, NO_RULES)).not.toHaveProperty(name);
  });

  it.each([
    ['a name', ['MY_VAR'], ['MY_VAR']],
    ['the beginning of names', ['MY_*'], ['MY_VAR', 'MY_']],
    ['everything', ['*'], ['MY_VAR', 'MY_', 'YOUR_VAR']],
    ['nothing', [], []],
  ])('gets %s that is to be passed', (_name, pass, expected) => {
    const names = ['MY_VAR', 'MY_', 'YOUR_VAR'];
    const env = Object.fromEntries(names.map((name) => [name, '1']));
    const built = buildChildEnvironment(env, { pass, set: {} });
    expect(names.filter((name) => name in built)).toEqual(expected);
  });

  it('gets what is set, over all else', () => {
    const set = { TERM: 'xterm', PATH: '/mine', LANG: 'C', LC_ALL: 'C', HISTFILE: '/h', EXTRA: '' };
    expect(buildChildEnvironment({ PATH: '/p', TERM: 'x' }, { pass: [], set })).toMatchObject(set);
  });

  it.each([
    [{ LANG: 'de_DE.UTF-8' }, { LANG: 'de_DE.UTF-8' }],
    [{ LANG: 'de_DE.utf8' }, { LANG: 'de_DE.utf8' }],
    [{ LANG: 'sr_RS.UTF-8@latin' }, { LANG: 'sr_RS.UTF-8@latin' }],
    [{ LANG: 'C' }, { LANG: 'C.UTF-8' }],
    [{ LANG: '' }, { LANG: 'C.UTF-8' }],
    [{ LANG: 'de_DE.UTF-8', LC_ALL: 'C' }, { LANG: 'de_DE.UTF-8' }],
    [{ LANG: 'de_DE.UTF-8', LC_ALL: '' }, { LANG: 'de_DE.UTF-8' }],
    [{ LC_ALL: 'en_US.UTF-8' }, { LC_ALL: 'en_US.UTF-8', LANG: 'C.UTF-8' }],
    [
      { LANG: 'en_US.UTF-8', LC_CTYPE: 'POSIX', LC_TIME: 'C' },
      { LANG: 'en_US.UTF-8', LC_TIME: 'C' },
    ],
  ])('has a UTF-8 locale from %j', (env, expected) => {
    const built = Object.entries(buildChildEnvironment(env, NO_RULES));
    expect(Object.fromEntries(built.filter(([name]) => /^(LANG|LC_)/.test(name)))).toEqual(expected);
  });

  it('comes with the configuration', () => {
    const text = 'adapter: { environment: { pass: [FOO], set: { BAR: b } } }';
    const { childEnvironment } = load(text, { env: { HOME: '/h', FOO: 'f', SECRET: 's' } });
    expect(childEnvironment).toMatchObject({ HOME: '/h', FOO: 'f', BAR: 'b', PAGER: 'cat' });
    expect(childEnvironment).not.toHaveProperty('SECRET');
  });
});
