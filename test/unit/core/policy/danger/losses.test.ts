import { describe, expect, it } from 'vitest';

import { verdictOn, WORKSPACE } from '../support.js';

const judge = (command: string) => verdictOn(command, {}, { preset: 'balanced' });

describe('what a checkpoint can bring back', () => {
  it.each([
    ['a directory', 'rm -rf build', ['build']],
    ['files by a pattern', 'rm build/*.o', ['build/*.o']],
    ['several, after a change of the directory', 'cd sub && rm -r a b', ['sub/a', 'sub/b']],
    ['a directory that the text makes again', 'rm -rf dist && cp -r src dist', ['dist']],
    ['changes that git discards', 'git checkout -- src/a.ts', ['src/a.ts']],
    ['everything that git does not know', 'git clean -fdx', ['']],
  ])('%s', (_, command, paths) => {
    const { action, losses } = judge(command);
    expect(action).toBe('checkpoint');
    expect(losses.map(({ path }) => path.slice(WORKSPACE.length + 1))).toEqual(paths);
  });

  it.each([
    ['the workspace itself', 'rm -rf "$PWD"'],
    ['hidden files by a pattern', 'rm -rf .*'],
    ['directories by a pattern', 'rm -rf */build'],
    ['an unknown path', 'rm -rf "$X"'],
    ['one of several paths', 'for f in a b; do rm -rf $f; done'],
    ['what an option of the text leads elsewhere', 'ln -sfn /srv d; rm -rf d/x'],
    ['what another program runs', 'env rm -rf build'],
    ['what another shell runs', "bash -c 'rm -rf build'"],
    ['what is run later', "trap 'rm -rf build' EXIT"],
    ['what is run on another machine', 'ssh host rm -rf build'],
    ['files that links of a pattern lead to', 'shred *.txt'],
    ['the index and the branch', 'git reset --hard'],
    ['other repositories', 'git clean -ffdx'],
    ['files by a pattern of git', "git checkout -- '*.ts'"],
    ['processes', 'pkill node'],
  ])('is not %s', (_, command) => {
    expect(judge(command).action).toBe('confirm');
  });

  it('is not asked about by `strict` either way, but confirmed', () => {
    expect(verdictOn('rm -rf build', {}, { preset: 'strict' }).action).toBe('confirm');
  });
});
