import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';
import { isRunning } from '../../support/processes.js';
import { ask, ToolStage } from './support.js';

const sh = (script: string) => ({ command: 'sh', args: ['-c', script] });

/** Worktrees that the repository knows of beside itself. */
const worktreesOf = (stage: ToolStage) =>
  stage.git('worktree', 'list', '--porcelain').match(/^worktree /gm)!.length - 1;

const contentOf = (answer: { choices: { message: { content: string | null } }[] }) =>
  answer.choices[0]?.message.content;

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
  ])('one that was %s is told and removed, and the repository knows nothing of it', async (_, what, changes) => {
    await using stage = new ToolStage();
    await stage.start(
      { vandal: { driver: 'vandal', repoPath: 'repo', worktree: true } },
      { shell_providers: { vandal: sh(`cat >/dev/null; ${what}; echo done`) } },
    );
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
    await using stage = new ToolStage();
    await stage.start(
      { vandal: { driver: 'vandal', repoPath: 'repo', worktree: true } },
      { shell_providers: { vandal: sh('cat >/dev/null; touch "$(git rev-parse --git-dir)/index.lock"; echo done') } },
    );
    const wanted = { model: 'vandal', messages: ask(), worktree_changes: true };
    expect(await stage.client().chat.completions.create(wanted as never)).toMatchObject({
      choices: [{ message: { content: 'done' } }],
      worktree: { changes: [], warning: expect.stringContaining('index.lock') as string },
    });
    expect(worktreesOf(stage)).toBe(0);
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
    await using next = await TestDaemon.start({}, stage.daemon.directory);
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

describe('a client that goes', () => {
  it.each([false, true])('ends its run, with all it has started, and its worktree (stream: %s)', async (stream) => {
    await using stage = new ToolStage();
    const script = `echo said; setsid sleep 300 & echo $! $$ > ${stage.folder}/pids.new; mv ${stage.folder}/pids.new ${stage.folder}/pids; wait`;
    await stage.start(
      { isolated: { driver: 'sleeper', repoPath: 'repo', worktree: true } },
      { shell_providers: { sleeper: sh(script) } },
    );
    const gone = new AbortController();
    const request = { model: 'isolated', messages: ask(), stream };
    const running = stage
      .client()
      .chat.completions.create(request, { signal: gone.signal })
      .catch(() => undefined);
    await eventually(() => {
      expect(stage.read('pids')).not.toBe('');
    });
    if (stream) await running;
    gone.abort();
    const pids = stage.read('pids').trim().split(' ').map(Number);
    await eventually(() => {
      expect(pids.filter(isRunning)).toEqual([]);
      expect(worktreesOf(stage)).toBe(0);
    });
    await running;
  });

  it('ends with the token of its client', async () => {
    await using stage = new ToolStage();
    await stage.start(
      { slow: { driver: 'slow', repoPath: 'repo' } },
      { shell_providers: { slow: sh(`echo $$ > ${stage.folder}/pids; exec sleep 300`) } },
    );
    const authorization = `Bearer ${stage.daemon.createToken('agent', 'mine')}`;
    const body = JSON.stringify({ model: 'slow', messages: ask() });
    const headers = { authorization, 'content-type': 'application/json' };
    const running = fetch(new URL('/v1/chat/completions', stage.daemon.url), { method: 'POST', headers, body });
    const failed = expect(running).rejects.toThrow('fetch failed');
    await eventually(() => {
      expect(stage.read('pids')).not.toBe('');
    });
    stage.daemon.tokens.revoke('mine');
    await failed;
    await eventually(() => {
      expect(isRunning(Number(stage.read('pids')))).toBe(false);
    });
  });

  it('ends those runs too whose answers stand behind others on its connection', async () => {
    await using stage = new ToolStage();
    await stage.start(
      { slow: { driver: 'slow', repoPath: 'repo' } },
      { shell_providers: { slow: sh(`echo $$ >> ${stage.folder}/pids; exec sleep 300`) } },
    );
    const { host, port } = new URL(stage.daemon.url);
    const body = JSON.stringify({ model: 'slow', messages: ask() });
    const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json`;
    const request = `${head}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(request + request);
    const pids = () => stage.read('pids').trim().split('\n').map(Number);
    await eventually(() => {
      expect(pids()).toHaveLength(2);
    });
    socket.destroy();
    await eventually(() => {
      expect(pids().filter(isRunning)).toEqual([]);
    });
  });
});

describe('limits', () => {
  it('of more calls than may wait for a tool, the rest is told to come again', async () => {
    await using stage = new ToolStage();
    const script = `echo x >> ${stage.folder}/begun; until [ -e ${stage.folder}/go ]; do sleep 0.02; done; echo done`;
    await stage.start(
      { slow: { driver: 'slow', repoPath: 'repo' } },
      { concurrency: 1, queue_limit: 1, shell_providers: { slow: sh(script) } },
    );
    const create = (maxRetries = 0) =>
      stage.client().chat.completions.create({ model: 'slow', messages: ask() }, { maxRetries });
    const running = create();
    await eventually(() => {
      expect(stage.read('begun')).toBe('x\n');
    });
    const others = [create(), create()].map((asked) => asked.then(contentOf, (error: unknown) => error));
    const refused = await Promise.race(others);
    expect(refused).toMatchObject({ status: 429, code: 'llm_rate_limited' });
    const { headers } = refused as { headers: Headers };
    expect(headers.get('retry-after')).toBe('5');
    expect(headers.get('x-should-retry')).toBeNull();
    writeFileSync(join(stage.folder, 'go'), '');
    expect(contentOf(await running)).toBe('done');
    expect(await Promise.all(others)).toContain('done');
  });

  it('needs a token where one is needed, of a role that may ask', async () => {
    await using stage = new ToolStage();
    await stage.start(
      { echo: { driver: 'echo', repoPath: 'repo', agentFile: 'none' } },
      { shell_providers: { echo: sh('cat') } },
      { auth: { mode: 'token' } },
    );
    const { daemon } = stage;
    const create = (key: string) => stage.client(key).chat.completions.create({ model: 'echo', messages: ask() });
    await expect(create('local')).rejects.toMatchObject({ status: 401, code: 'unauthorized' });
    await expect(stage.client('wrong').models.list()).rejects.toMatchObject({ status: 401 });
    await expect(create(daemon.createToken('viewer', 'eyes'))).rejects.toMatchObject({
      status: 403,
      code: 'forbidden',
    });
    expect(contentOf(await create(daemon.createToken('agent', 'worker')))).toBe('hello');
  });

  it('does not hold up the end of the daemon', async () => {
    await using stage = new ToolStage();
    await stage.start(
      { slow: { driver: 'slow', repoPath: 'repo', worktree: true } },
      { shell_providers: { slow: sh(`touch ${stage.folder}/begun; trap "" TERM; sleep 300`) } },
    );
    const running = stage.client().chat.completions.create({ model: 'slow', messages: ask() }, { maxRetries: 0 });
    const failed = expect(running).rejects.toMatchObject({ status: 503, code: 'shutting_down' });
    await eventually(() => {
      expect(existsSync(join(stage.folder, 'begun'))).toBe(true);
    });
    expect(await stage.daemon.stop()).toBe(0);
    await failed;
    expect(worktreesOf(stage)).toBe(0);
  });
});

describe('the models', () => {
  it('without a file are the tools that are there, by their names, in the workspace', async () => {
    await using stage = new ToolStage();
    await stage.start(undefined, { shell_providers: { where: sh('cat >/dev/null; pwd') } });
    const { data } = await stage.client().models.list();
    expect(data.map(({ id }) => id)).toContain('where');
    expect(data.map(({ id }) => id)).not.toContain('cursor-agent');
    expect(contentOf(await stage.client().chat.completions.create({ model: 'where', messages: ask() }))).toBe(
      stage.daemon.workspace,
    );
  });

  it('are read again by SIGHUP; a bad file keeps the old ones', async () => {
    await using stage = new ToolStage();
    await stage.start({ one: { driver: 'codex', repoPath: 'repo' } });
    const ids = async () => (await stage.client().models.list()).data.map(({ id }) => id);
    stage.writeModels({ two: { driver: 'codex', repoPath: 'repo' } });
    stage.daemon.signal('SIGHUP');
    await eventually(async () => {
      expect(await ids()).toEqual(['two']);
    });
    stage.writeModels({ three: { driver: 'nobody', repoPath: 'repo' } });
    stage.daemon.signal('SIGHUP');
    await eventually(() => {
      expect(stage.daemon.output).toContain('three.driver: there is no shell provider');
    });
    expect(await ids()).toEqual(['two']);
  });

  it('are not there with http.openai: false', async () => {
    await using stage = new ToolStage();
    await stage.start(undefined, {}, { http: { openai: false } });
    await expect(stage.client().models.list()).rejects.toMatchObject({ status: 404 });
  });
});
