import { describe, expect, it } from 'vitest';

import { judge, type JudgeFacts } from '../../src/policy.js';

const FACTS: JudgeFacts = { workspace: '/work/project', home: '/home/ann' };

/** What the words of each command were taken for. */
const wordsOf = (text: string, facts = FACTS) =>
  judge(text, facts).commands.map(({ words }) => words.map(({ word, takenFor }) => `${word}: ${takenFor}`));

describe('the policy as a function', () => {
  it('decides as the daemon does under its defaults', () => {
    expect(judge('git status && rm -rf build', FACTS)).toMatchObject({
      action: 'checkpoint',
      class: 'destructive',
      reasons: ['rm deletes /work/project/build'],
      paths: ['/work/project/build'],
      commands: [
        { text: 'git status', program: 'git', action: 'allow' },
        { text: 'rm -rf build', program: 'rm', action: 'checkpoint' },
      ],
      hasUnknowns: false,
      isUnparsable: false,
    });
    expect(judge('rm -rf /', FACTS).action).toBe('deny');
    expect(judge('cat <<', FACTS)).toMatchObject({ isUnparsable: true });
  });

  it('takes the shell, the place, presets, classes and rules', () => {
    expect(judge('rm x', { ...FACTS, directory: '/srv' }).reasons).toEqual(['rm deletes /srv/x']);
    expect(judge('l', { ...FACTS, aliases: { l: 'rm -rf /' } }).action).toBe('deny');
    expect(judge('l', { ...FACTS, functions: { l: '{ rm -rf /; }' } }).action).toBe('deny');
    expect(judge('cat x', { ...FACTS, secretPaths: ['/work/project/x'] }).class).toBe('exfiltration');
    expect(judge('make', { ...FACTS, preset: 'strict' }).action).toBe('confirm');
    expect(judge('make', { ...FACTS, classes: { execute: 'deny' } }).action).toBe('deny');
    expect(judge('make', { ...FACTS, rules: [{ action: 'deny', program: ['make'], reason: 'no' }] })).toMatchObject({
      action: 'deny',
      reasons: expect.arrayContaining(['no']) as string[],
    });
    expect(judge('rm', { ...FACTS, args: ['-r', '$HOME'] }).paths).toEqual(['/work/project/$HOME']);
  });

  it('tells what each word was taken for', () => {
    expect(wordsOf('sudo -u ann docker -D run -v /etc:/h alpine >log')).toEqual([
      [
        'sudo: the program sudo, which runs another one',
        '>log: a file that the shell writes',
        '-u: an option of sudo',
        'ann: the value of -u: text without an effect',
        'docker -D run -v /etc:/h alpine: the command that sudo runs',
      ],
      [
        'docker: the program docker: execute',
        '-D: an option of docker',
        'run: a subcommand of docker',
        '-v: an option of docker run',
        '/etc:/h: the value of -v: files that a container gets',
        'alpine: text without an effect',
      ],
    ]);
    expect(wordsOf('A=1 unheard-of --x $Y; $Z')).toEqual([
      ['unheard-of: unheard-of, which is in no table', 'A=1: a variable for this command'],
      ['$Z: a program that is known only at run time'],
    ]);
    expect(wordsOf('l x', { ...FACTS, aliases: { l: 'ls -l' } })[0]).toContain('l: an alias: ls -l');
  });

  it.each([
    [{ workspace: 'project' }, 'workspace must be an absolute path, and is "project"'],
    [{}, 'workspace must be an absolute path, and is missing'],
    [{ ...FACTS, directory: './x' }, 'directory must be an absolute path'],
    [{ ...FACTS, home: '~' }, 'home must be an absolute path'],
    [{ ...FACTS, shell: 'csh' }, 'shell must be one of bash, zsh'],
    [{ ...FACTS, preset: 'none' }, 'preset must be one of permissive, balanced, strict'],
    [{ ...FACTS, classes: { harm: 'deny' } }, 'harm is no class of commands: take one of read'],
    [{ ...FACTS, classes: { read: 'ask' } }, 'the action of read must be one of allow'],
    [{ ...FACTS, rules: [{ action: 'deny' }] }, 'rules[0].action: a rule needs program, args, path or regex'],
    [{ ...FACTS, rules: [{ action: 'deny', regex: '(' }] }, 'rules[0].regex: is no regular expression'],
  ])('refuses %j', (facts, message) => {
    expect(() => judge('true', facts as unknown as JudgeFacts)).toThrow(TypeError);
    expect(() => judge('true', facts as unknown as JudgeFacts)).toThrow(message);
  });
});
