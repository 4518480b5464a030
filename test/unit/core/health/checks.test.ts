import { describe, expect, it } from 'vitest';

import { checkHealth, type HealthFacts } from '../../../../src/core/health.js';

const MIB = 1024 * 1024;

const HEALTHY: HealthFacts = {
  shell: 'bash',
  workingDirectory: '/work',
  isDirectoryThere: true,
  aliases: new Map([
    ['ls', 'ls --color=auto'],
    ['grep', 'command grep --color'],
    ['ll', 'ls -l'],
  ]),
  functions: new Map([
    ['cd', '{ builtin cd "$@" && ls; }'],
    ['git', '{ \\git "$@"; }'],
    ['mine', '{ :; }'],
  ]),
  options: 'himBHs',
  missingTools: [],
  environmentBytes: 4000,
  leftModes: [],
  leftProcesses: 3,
  disk: { freeBytes: 100 * MIB, totalBytes: 500 * MIB },
};

const codes = (facts: Partial<HealthFacts>) => checkHealth({ ...HEALTHY, ...facts }).map(({ code }) => code);

describe('the health of a session', () => {
  it('has nothing to say of ordinary aliases, wrappers and options', () => {
    expect(checkHealth(HEALTHY)).toEqual([]);
  });

  it.each<[string, Partial<HealthFacts>, string]>([
    ['a directory that is gone', { isDirectoryThere: false }, 'DIRECTORY_GONE'],
    ['tools that are not found', { missingTools: ['ls', 'rm'] }, 'PATH_BROKEN'],
    ['an alias of another command', { aliases: new Map([['rm', 'echo rm']]) }, 'COMMANDS_SHADOWED'],
    [
      'a function instead of a tool',
      { functions: new Map([['ls', '{ echo ls-x command lsof; }']]) },
      'COMMANDS_SHADOWED',
    ],
    ['a function instead of a builtin', { functions: new Map([['[', '{ return 0; }']]) }, 'COMMANDS_SHADOWED'],
    ['set -e', { options: 'ehimBHs' }, 'SHELL_OPTIONS'],
    ['set -F in zsh', { shell: 'zsh', options: '569XF' }, 'SHELL_OPTIONS'],
    ['set -C', { options: 'himBCHs' }, 'SHELL_OPTIONS'],
    ['a terminal that was left in disorder', { leftModes: ['-echo'] }, 'TERMINAL_MODES'],
    ['many processes', { leftProcesses: 20 }, 'PROCESSES_LEFT'],
    ['a large environment', { environmentBytes: 200_000 }, 'ENVIRONMENT_LARGE'],
    ['a full disk', { disk: { freeBytes: 10 * MIB, totalBytes: 10_000 * MIB } }, 'DISK_LOW'],
  ])('tells %s', (_, facts, code) => {
    expect(codes(facts)).toEqual([code]);
  });

  it('does not mind zsh’s own letters, nor a small disk that is not full', () => {
    expect(codes({ shell: 'zsh', options: '569Xf' })).toEqual([]);
    expect(codes({ disk: { freeBytes: 50 * MIB, totalBytes: 100 * MIB } })).toEqual([]);
    expect(codes({ disk: undefined })).toEqual([]);
  });

  it('names a few, and how many more there are', () => {
    const functions = new Map(['ls', 'cat', 'cp', 'mv', 'rm', 'mkdir', 'grep'].map((name) => [name, '{ :; }']));
    const [warning] = checkHealth({ ...HEALTHY, aliases: new Map(), functions });
    expect(warning?.message).toContain('ls, cat, cp, mv, rm and 2 more');
  });
});
