import { appendFileSync, chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';
import { isRunning } from '../../support/processes.js';
import { ask, contentOf, sh, ToolStage, worktreesOf } from './support.js';

describe('worktrees', () => {
  it('each run has one of its own, at the commit that is checked out, which goes with it', async () => {
    await using stage = new ToolStage();
    const meet =
      'cat > mine; touch "$OUT/$(basename "$PWD")"; until [ "$(ls "$OUT" | wc -l)" = 2 ]; do sleep 0.02; done; ls; pwd';
    mkdirSync(join(stage.folder, 'met'));
    await stage.start(
      { isolated: { driver: 'meet', repoPath: 'repo', worktree: true, normalizer: 'full' } },
      { shell_providers: { meet: { ...sh(meet), env: { OUT: join(stage.folder, 'met') } } } },
    );
    // What is not committed is not in it.
    writeFileSync(join(stage.repo, 'uncommitted'), 'x');
    const create = () => stage.client().chat.completions.create({ model: 'isolated', messages: ask() });
    const [first, second] = (await Promise.all([create(), create()])).map(contentOf);
    expect(first?.split('\n').slice(0, 3)).toEqual(['AGENTS.md', 'mine', 'sub']);
    expect(first?.split('\n').at(-1)).not.toBe(second?.split('\n').at(-1));
    expect(existsSync(join(stage.repo, 'mine'))).toBe(false);
    expect(worktreesOf(stage)).toBe(0);
    expect(existsSync(first?.split('\n').at(-1) ?? '')).toBe(false);
  });

  it('a request may want one, or none, and what was changed in it', async () => {
    await using stage = new ToolStage();
    await stage.start(
      {
        plain: { driver: 'editor', repoPath: 'repo/sub' },
        isolated: { driver: 'editor', repoPath: 'repo', worktree: true },
      },
      {
        shell_providers: {
          editor: sh(
            'cat >/dev/null; echo new > added; rm -f file sub/file; git -c user.name=a -c user.email=a@b commit -qam x; pwd',
          ),
        },
      },
    );
    // Hooks of the repository are not run for the adapter.
    writeFileSync(join(stage.repo, '.git/hooks/post-checkout'), `#!/bin/sh\ntouch ${stage.folder}/hooked\n`);
    chmodSync(join(stage.repo, '.git/hooks/post-checkout'), 0o755);
    const wanted = { messages: ask(), worktree: true, worktree_changes: true };
    const answer = (await stage.client().chat.completions.create({ model: 'plain', ...wanted } as never)) as object;
    expect(answer).toMatchObject({
      worktree: {
        changes: [
          { path: 'sub/added', status: 'added' },
          { path: 'sub/file', status: 'deleted' },
        ],
        patch: expect.stringContaining('+new') as string,
      },
    });
    expect(stage.read('hooked')).toBe('');
    expect(existsSync(join(stage.folder, 'hooked'))).toBe(false);
    expect(stage.read('repo/sub/file')).toBe('content\n');
    const streamed = await stage.client().chat.completions.create({ model: 'plain', stream: true, ...wanted } as never);
    const chunks: object[] = [];
    for await (const chunk of streamed as unknown as AsyncIterable<object>) chunks.push(chunk);
    expect(chunks.at(-1)).toMatchObject({ choices: [], worktree: { changes: [{ path: 'sub/added' }, {}] } });
    const none = { model: 'isolated', messages: ask(), worktree: false };
    expect(contentOf(await stage.client().chat.completions.create(none as never))).toBe(stage.repo);
  });

  it('filters of the repository are not run for the adapter', async () => {
    await using stage = new ToolStage();
    await stage.start(
      { plain: { driver: 'editor', repoPath: 'repo' } },
      { shell_providers: { editor: sh('cat >/dev/null; echo new > added') } },
    );
    writeFileSync(join(stage.repo, '.git/info/attributes'), '* filter=own\n');
    const actions = ['clean', 'smudge', 'process'].map((action) => `${action} = "touch ${stage.folder}/run; cat"\n`);
    appendFileSync(join(stage.repo, '.git/config'), `[filter "own"]\nrequired = true\n${actions.join('')}`);
    const wanted = { messages: ask(), worktree: true, worktree_changes: true };
    expect(await stage.client().chat.completions.create({ model: 'plain', ...wanted } as never)).toMatchObject({
      worktree: { changes: [{ path: 'added', status: 'added' }] },
    });
    expect(existsSync(join(stage.folder, 'run'))).toBe(false);
  });

  it('a repository without a working tree gives one', async () => {
    await using stage = new ToolStage();
    stage.git('clone', '--quiet', '--bare', '.', join(stage.folder, 'bare.git'));
    await stage.start(
      { bare: { driver: 'list', repoPath: 'bare.git', worktree: true, normalizer: 'full' } },
      { shell_providers: { list: sh('cat >/dev/null; ls') } },
    );
    expect(contentOf(await stage.client().chat.completions.create({ model: 'bare', messages: ask() }))).toBe(
      'AGENTS.md\nsub',
    );
    expect(existsSync(join(stage.folder, 'bare.git/worktrees/1'))).toBe(false);
  });

  it('what a killed daemon leaves goes at the next start, from the repository too', async () => {
    await using stage = new ToolStage();
    await stage.start(
      { isolated: { driver: 'sleeper', repoPath: 'repo', worktree: true } },
      { shell_providers: { sleeper: sh(`echo $$ > ${stage.folder}/pid; exec sleep 300`) } },
    );
    const running = stage
      .client()
      .chat.completions.create({ model: 'isolated', messages: ask() })
      .catch(() => undefined);
    await eventually(() => {
      expect(stage.read('pid')).not.toBe('');
    });
    expect(worktreesOf(stage)).toBe(1);
    stage.daemon.signal('SIGKILL');
    await stage.daemon.exited;
    await running;
    const root = join(stage.daemon.directory, 'state/worktrees');
    expect(readdirSync(root)).toHaveLength(1);
    await using next = await TestDaemon.startCold({}, stage.daemon.directory);
    expect(next.output).toContain('listening');
    expect(readdirSync(root)).toEqual([]);
    expect(stage.git('worktree', 'list')).not.toContain('worktrees');
    expect(
      existsSync(join(stage.repo, '.git/worktrees')) ? readdirSync(join(stage.repo, '.git/worktrees')) : [],
    ).toEqual([]);
    await eventually(() => {
      expect(isRunning(Number(stage.read('pid')))).toBe(false);
    });
  });
});

describe('a worktree', () => {
  let stage: ToolStage;
  /** The script that each test has for it. */
  let vandal: string;
  beforeAll(async () => {
    stage = new ToolStage();
    vandal = join(stage.folder, 'vandal');
    await stage.start(
      { vandal: { driver: 'vandal', repoPath: 'repo', worktree: true } },
      { shell_providers: { vandal: sh(`cat >/dev/null; . ${vandal}; echo done`) } },
    );
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  it.each([
    ['locked', 'git worktree lock .; echo new > added', [{ path: 'added', status: 'added' }]],
    [
      'emptied, its link to the repository too',
      'rm -rf .git AGENTS.md sub',
      [
        { path: 'AGENTS.md', status: 'deleted' },
        { path: 'sub/file', status: 'deleted' },
      ],
    ],
    ['made another repository', 'rm -rf .git; git init -q .; echo new > added', [{ path: 'added', status: 'added' }]],
    ['given a directory that nobody may enter', 'mkdir -p a/b; chmod 000 a', []],
    [
      'given repositories, one in the other',
      'git init -q new; echo x > new/file; git init -q new/inner; echo x > new/inner/file; cd new/inner; git add .; ' +
        'git -c user.name=a -c user.email=a@b commit -qm x',
      [
        { path: 'new/file', status: 'added' },
        { path: 'new/inner/file', status: 'added' },
      ],
    ],
  ])('that was %s is told and removed, and the repository knows nothing of it', async (_, what, changes) => {
    writeFileSync(vandal, what);
    const wanted = { model: 'vandal', messages: ask(), worktree_changes: true };
    expect(await stage.client().chat.completions.create(wanted as never)).toMatchObject({
      choices: [{ message: { content: 'done' } }],
      worktree: { changes },
    });
    expect(worktreesOf(stage)).toBe(0);
    const [instance = ''] = readdirSync(join(stage.daemon.directory, 'state/worktrees'));
    expect(readdirSync(join(stage.daemon.directory, 'state/worktrees', instance))).toEqual([]);
  });

  it('what cannot be told of the changes is said, and the answer counts', async () => {
    writeFileSync(vandal, 'touch "$(git rev-parse --git-dir)/index.lock"');
    const wanted = { model: 'vandal', messages: ask(), worktree_changes: true };
    expect(await stage.client().chat.completions.create(wanted as never)).toMatchObject({
      choices: [{ message: { content: 'done' } }],
      worktree: { changes: [], warning: expect.stringContaining('index.lock') as string },
    });
    expect(worktreesOf(stage)).toBe(0);
  });
});
