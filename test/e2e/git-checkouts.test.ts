import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect } from 'vitest';

import { daemonTest } from '../support/daemon-test.js';
import type { TestDaemon } from '../support/daemon.js';

/** A program that shows that it was run. */
const PROGRAM = '#!/bin/sh\ntouch "$(dirname "$0")/ran"\n';

const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], { cwd, stdio: 'pipe' });

/** A workspace that is a repository, with a program beside the files; returns whether the program has run. */
function makeCheckout(workspace: string): () => boolean {
  rmSync(join(workspace, 'x.sh'), { force: true });
  git(workspace, 'init', '-q');
  writeFileSync(join(workspace, 'x.sh'), PROGRAM);
  chmodSync(join(workspace, 'x.sh'), 0o755);
  writeFileSync(join(workspace, 'file'), 'one\n');
  git(workspace, 'add', '.');
  git(workspace, 'commit', '-q', '-m', 'first');
  writeFileSync(join(workspace, 'file'), 'two\n');
  return () => existsSync(join(workspace, 'ran'));
}

const it = daemonTest({ settings: { confirmation: { mode: 'off' } } });

describe('git in a checkout, without any confirmation', () => {
  it('runs nothing that merely lies there', async ({ daemon, client }) => {
    const { workspace } = daemon;
    const hasRun = makeCheckout(workspace);
    const program = join(workspace, 'x.sh');
    git(workspace, 'init', '-q', '--bare', 'evil');
    const settings = `[core]\n\tbare = false\n\tworktree = .\n\tfsmonitor = ${program}\n`;
    writeFileSync(join(workspace, 'evil', 'config'), settings);
    mkdirSync(join(workspace, 'sub'));
    writeFileSync(join(workspace, 'sub', '.git'), 'gitdir: ../evil\n');
    writeFileSync(join(workspace, '.git', 'hooks', 'post-index-change'), PROGRAM.replace('$(dirname "$0")', workspace));
    chmodSync(join(workspace, '.git', 'hooks', 'post-index-change'), 0o755);
    const session = await client.openSession();
    for (const command of [
      ...[
        'git -C evil status',
        'cd evil; git status; git ls-files; cd ..',
        'git --git-dir=evil status',
        'git -C sub status',
      ],
      ...['git status', 'touch file; git status', 'git diff --stat', 'git log -1', '(cd sub && git ls-files)'],
    ])
      await client.run(command, session);
    writeFileSync(join(workspace, '.git', 'commondir'), '../evil\n');
    await client.run('git status', session);
    await client.run('git status');
    expect(hasRun()).toBe(false);
  });
});

const gated = daemonTest({ settings: { confirmation: { mode: 'self', preset: 'balanced' } } });

describe('git in a repository whose settings name a program', () => {
  let workspace: string | undefined;
  let hasRun: () => boolean;

  gated.beforeEach(({ daemon }) => {
    if (workspace !== daemon.workspace) {
      ({ workspace } = daemon);
      hasRun = makeCheckout(workspace);
    }
    writeFileSync(join(workspace, '.gitattributes'), 'file diff=x filter=x\n');
  });

  const check = ({ workspace }: TestDaemon, setting: string) => {
    const [key = '', value = ''] = setting.split('=');
    git(workspace, 'config', key, value);
    return () => {
      git(workspace, 'config', '--unset', key);
    };
  };

  gated.for([
    'diff.external=./x.sh',
    'diff.x.textconv=./x.sh',
    'diff.x.command=./x.sh',
    'filter.x.clean=./x.sh',
    'filter.x.process=./x.sh',
    'include.path=/tmp/other',
  ])('is asked about: %s', async (setting, { daemon, client }) => {
    const restore = check(daemon, setting);
    const { status, reasons } = await client.run('git diff');
    expect({ status, reasons: String(reasons) }).toMatchObject({
      status: 'confirmation_required',
      reasons: expect.stringContaining(setting.split('=')[0]!) as string,
    });
    expect(hasRun()).toBe(false);
    restore();
    expect((await client.run('git diff')).status).toBe('completed');
  });

  gated('is not asked about for the programs of git-lfs', async ({ daemon, client }) => {
    const restore = check(daemon, 'filter.lfs.clean=git-lfs clean -- %f');
    expect((await client.run('git status')).status).toBe('completed');
    restore();
  });
});
