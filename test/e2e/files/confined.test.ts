import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:http';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';
import { descendantsOf } from '../../support/processes.js';
import { describeRootIf } from '../../support/root.js';
import { canSandbox } from '../../support/sandbox.js';
import { canMakeUsers, TestUser } from '../../support/machine/users.js';
import { WireClient } from '../../support/wire.js';

const failing = (code: string) => ({ error: { code } });

describe.runIf(canSandbox)('in a sandbox', () => {
  let daemon: TestDaemon;
  let client: WireClient;
  let session_id: string;
  const at = (...names: string[]) => join(daemon.workspace, ...names);

  beforeAll(async () => {
    daemon = await TestDaemon.start({ settings: { sandbox: { profile: 'strict', protected_paths: ['guarded'] } } });
    client = await WireClient.connect(daemon.url);
    writeFileSync(at('guarded'), 'old');
    session_id = await client.openSession();
  });

  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await daemon[Symbol.asyncDispose]();
  });

  it('files of the workspace are read and written', async () => {
    await client.run('mkdir -p sub && cd sub', session_id);
    const data = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));
    expect(await client.request('write_file', { path: 'file', data, session_id })).toMatchObject({ created: true });
    expect(readFileSync(at('sub/file'))).toEqual(data);
    const read = await client.request('read_file', { path: 'file', session_id, length: 1_000_000 });
    expect(Buffer.from(read.data as Uint8Array)).toEqual(data);
    expect(read).toMatchObject({ length: data.length, eof: true });
    expect(await client.request('list_directory', { session_id })).toMatchObject({ entries: [{ name: 'file' }] });
    expect(await client.request('write_file', { path: 'no/file', data: '', session_id })).toMatchObject(
      failing('FILE_NOT_FOUND'),
    );
  });

  const programs = () =>
    descendantsOf(daemon.pid).filter(
      ({ command }) => command.endsWith('/files/worker-main.js') && !command.includes('bwrap'),
    );

  /** Programs that wait for a job end after some seconds. */
  const noPrograms = () =>
    eventually(() => {
      expect(programs()).toEqual([]);
    });

  it('requests of a session share a program, which ends with the session and counts as no command', async () => {
    await noPrograms();
    const own = await client.openSession();
    const seen = new Set<number>();
    for (let round = 0; round < 10; round += 1) {
      const path = at(`shared-${round}`);
      await client.request('write_file', { path, data: String(round), session_id: own });
      const read = await client.request('read_file', { path, session_id: own, encoding: 'utf8' });
      expect(read).toMatchObject({ data: String(round) });
      expect(await client.request('read_file', { path: `${path}-not`, session_id: own })).toMatchObject(
        failing('FILE_NOT_FOUND'),
      );
      for (const { pid } of programs()) seen.add(pid);
    }
    expect(seen.size).toBe(1);
    expect(await client.request('daemon_status', {})).toMatchObject({ running_commands: 0 });
    await client.request('close_session', { session_id: own });
    await noPrograms();
  });

  it('many requests at once wait for each other, and all are done', async () => {
    await noPrograms();
    let most = 0;
    const noting = setInterval(() => {
      most = Math.max(most, programs().length);
    }, 5);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        client.request('write_file', { path: at(`many-${index}`), data: String(index), session_id }),
      ),
    );
    clearInterval(noting);
    expect(answers.map(({ error }) => error)).toEqual(answers.map(() => undefined));
    expect(answers.map((_, index) => readFileSync(at(`many-${index}`), 'utf8'))).toEqual(
      answers.map((_, index) => String(index)),
    );
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(Math.max(2, availableParallelism()));
  });

  it('what the sandbox hides, guards or lacks is hidden, guarded or lacking', async () => {
    const state = join(daemon.directory, 'state', 'audit.jsonl');
    expect(existsSync(state)).toBe(true);
    const hidden = await client.request('read_file', { path: state, session_id });
    expect(hidden).toMatchObject(failing('FILE_NOT_FOUND'));
    symlinkSync(state, at('way-out'));
    expect(await client.request('read_file', { path: at('way-out'), session_id })).toMatchObject(
      failing('FILE_NOT_FOUND'),
    );
    expect(await client.request('write_file', { path: '/etc/x', data: '', session_id })).toMatchObject(
      failing('FILE_ACCESS_DENIED'),
    );
    const guarded = { path: at('guarded'), session_id };
    expect(await client.request('write_file', { ...guarded, data: 'new' })).toMatchObject(
      failing('FILE_ACCESS_DENIED'),
    );
    expect(await client.request('remove_path', guarded)).toMatchObject(failing('FILE_ACCESS_DENIED'));
    expect(readFileSync(at('guarded'), 'utf8')).toBe('old');
  });

  it('files are uploaded and downloaded over HTTP as the sandbox sees them', async () => {
    const url = (path: string) => `${daemon.url}/v1/files/${encodeURIComponent(path)}?session_id=${session_id}`;
    const data = Buffer.alloc(3_000_000, 'abc');
    const written = await fetch(url(at('large')), { method: 'PUT', body: data });
    expect([written.status, written.headers.get('etag')]).toEqual([201, expect.stringMatching(/^"/)]);
    expect(readFileSync(at('large')).equals(data)).toBe(true);
    const read = await fetch(url(at('large')), { headers: { range: 'bytes=1-1000000' } });
    expect([read.status, read.headers.get('etag')]).toEqual([206, written.headers.get('etag')]);
    expect(Buffer.from(await read.arrayBuffer()).equals(data.subarray(1, 1_000_001))).toBe(true);
    const head = await fetch(url(at('large')), { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '3000000']);
    for (const [path, method, status] of [
      ['/etc/x', 'PUT', 403],
      [at('guarded'), 'PUT', 403],
      [join(daemon.directory, 'state', 'audit.jsonl'), 'GET', 404],
      [at('sub'), 'GET', 409],
    ] as const) {
      const refused = await fetch(url(path), { method, ...(method === 'PUT' && { body: 'x' }) });
      expect([path, refused.status]).toEqual([path, status]);
    }
    // What the client breaks off is removed by the program in the sandbox.
    const broken = request(url(at('broken')), {
      method: 'PUT',
      headers: { 'content-length': 9_000_000 },
      agent: false,
    });
    broken.on('error', () => undefined).write(data);
    const names = () => readdirSync(daemon.workspace).filter((name) => /broken|\.new$/.test(name));
    await eventually(() => {
      expect(names()).toHaveLength(1);
    });
    broken.destroy();
    await eventually(() => {
      expect(names()).toEqual([]);
    });
  });

  it('requests without a session are in the sandbox of commands without one', async () => {
    expect(await client.request('write_file', { path: '/etc/x', data: '' })).toMatchObject(
      failing('FILE_ACCESS_DENIED'),
    );
    expect(await client.request('write_file', { path: 'here', data: 'x' })).toMatchObject({ size: 1 });
    expect(readFileSync(at('here'), 'utf8')).toBe('x');
  });
});

describeRootIf(canMakeUsers)('of a token with a user of its own', () => {
  let user: TestUser;
  let daemon: TestDaemon;
  let client: WireClient;

  beforeAll(async () => {
    user = new TestUser('f');
    daemon = await TestDaemon.start();
    const { secret } = daemon.tokens.create({ name: 'f', role: 'agent', lifeMs: undefined, runAs: user.name });
    client = await WireClient.connect(daemon.url, ['websocket'], { token: secret });
  });

  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await daemon[Symbol.asyncDispose]();
    user[Symbol.dispose]();
  });

  it('files belong to that user, who gets no more than its permissions', async () => {
    const path = join(user.home, 'mine');
    expect(await client.request('write_file', { path: 'mine', data: 'x' })).toMatchObject({ created: true });
    expect(statSync(path)).toMatchObject({ uid: user.uid, size: 1 });
    const closed = mkdtempSync(join(user.home, 'closed-'));
    try {
      writeFileSync(join(closed, 'file'), 'secret');
      chmodSync(closed, 0o700);
      for (const name of ['read_file', 'stat_path', 'remove_path'] as const) {
        expect(await client.request(name, { path: join(closed, 'file') })).toMatchObject(failing('FILE_ACCESS_DENIED'));
      }
      symlinkSync(join(closed, 'file'), join(user.home, 'way'));
      expect(await client.request('read_file', { path: 'way' })).toMatchObject(failing('FILE_ACCESS_DENIED'));
    } finally {
      rmSync(closed, { recursive: true });
    }
  });
});
