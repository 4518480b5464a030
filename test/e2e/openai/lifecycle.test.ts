import { existsSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { eventually } from '../../support/measure.js';
import { isRunning } from '../../support/processes.js';
import { ask, contentOf, sh, ToolStage, worktreesOf } from './support.js';

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
