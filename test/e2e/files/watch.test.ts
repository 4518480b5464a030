import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { connect } from '../../../src/client/index.js';
import type { EventPayload } from '../../../src/core/protocol/results.js';
import { TestDaemon } from '../../support/daemon.js';
import { FlakyProxy } from '../../support/network/flaky-proxy.js';
import { eventually } from '../../support/measure.js';
import { askRest, streamRest } from '../../support/network/rest.js';
import { canSandbox } from '../../support/sandbox.js';
import { WireClient } from '../../support/wire.js';
import { callCli } from '../cli/in-process.js';
import { CliProcess, urlVariable } from '../cli/support.js';

let daemon: TestDaemon;
let client: WireClient;
/** A new directory for each test. */
let top: string;

const at = (...names: string[]) => join(top, ...names);
const failing = (code: string) => ({ error: { code } });

beforeAll(async () => {
  daemon = await TestDaemon.start({ settings: { confirmation: { mode: 'self' } } });
  client = await WireClient.connect(daemon.url);
});
beforeEach(() => {
  top = mkdtempSync(join(daemon.workspace, 'watched-'));
});
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
});

/** What a client has been told of a watch, as `change name`. */
const toldOf = (id: string, of = client) =>
  of
    .all('paths_changed')
    .filter(({ watch_id }) => watch_id === id)
    .flatMap(({ changes }) => changes.map(({ path, change }) => `${change} ${path.slice(top.length + 1)}`));

const watch = async (paths: string[], more: object = {}) => {
  const answer = await client.request('watch_paths', { paths, debounce_ms: 20, ...more });
  expect(answer).toMatchObject({ watch_id: expect.stringMatching(/^watch_/) as string });
  return answer.watch_id;
};
const told = (id: string, ...lines: string[]) =>
  eventually(() => {
    expect(toldOf(id)).toEqual(expect.arrayContaining(lines));
  });

describe('watch_paths', () => {
  it('tells of what is created, changed and removed in a directory, and not of what is below', async () => {
    mkdirSync(at('below'));
    writeFileSync(at('old'), 'x');
    const id = await watch([top]);
    writeFileSync(at('new'), 'x');
    writeFileSync(at('below', 'inner'), 'x');
    await told(id, 'created new');
    writeFileSync(at('old'), 'y');
    await told(id, 'changed old');
    rmSync(at('old'));
    await told(id, 'removed old');
    expect(toldOf(id).some((line) => line.includes('inner'))).toBe(false);
    expect(await client.request('unwatch_paths', { watch_id: id })).toEqual({ watch_id: id });
    expect(await client.request('unwatch_paths', { watch_id: id })).toMatchObject(failing('INVALID_REQUEST'));
  });

  it('tells of new directories below, without what a .gitignore excludes', async () => {
    mkdirSync(at('.git'));
    writeFileSync(at('.gitignore'), '*.log\nout/\n');
    const id = await watch([top], { recursive: true });
    mkdirSync(at('a/b'), { recursive: true });
    mkdirSync(at('out'));
    writeFileSync(at('a/b/file'), 'x');
    writeFileSync(at('out/hidden'), 'x');
    writeFileSync(at('noise.log'), 'x');
    await told(id, 'created a', 'created a/b', 'created a/b/file');
    writeFileSync(at('a/b/file'), 'more');
    await told(id, 'changed a/b/file');
    rmSync(at('a'), { recursive: true });
    await told(id, 'removed a/b/file', 'removed a');
    expect(toldOf(id).filter((line) => /log|out|\.git/.test(line))).toEqual([]);
  });

  it('follows a file that is replaced, that vanishes and comes back, and a link to one', async () => {
    writeFileSync(at('file'), 'x');
    symlinkSync('file', at('link'));
    const id = await watch([at('file'), at('link')]);
    writeFileSync(at('temporary'), 'y');
    renameSync(at('temporary'), at('file'));
    await told(id, 'changed file', 'changed link');
    rmSync(at('file'));
    await told(id, 'removed file', 'removed link');
    writeFileSync(at('file'), 'z');
    await told(id, 'created file', 'created link');
    expect(toldOf(id).some((line) => line.includes('temporary'))).toBe(false);
  });

  it('waits for a directory that vanishes', async () => {
    mkdirSync(at('dir'));
    const id = await watch([at('dir')], { recursive: true });
    rmSync(at('dir'), { recursive: true });
    await told(id, 'removed dir');
    mkdirSync(at('dir'));
    await told(id, 'created dir');
    writeFileSync(at('dir/file'), 'x');
    await told(id, 'created dir/file');
  });

  it('takes paths as the session sees them, and ends with it', async () => {
    const session_id = await client.openSession();
    await client.run(`cd ${top}`, session_id);
    const { watch_id, paths } = await client.request('watch_paths', { paths: ['.'], session_id, debounce_ms: 20 });
    expect(paths).toEqual([top]);
    await client.run('echo x > made', session_id);
    await told(watch_id, 'created made');
    await client.request('close_session', { session_id });
    expect(await client.event('watch_ended')).toMatchObject({ watch_id, reason: 'session_closed' });
  });

  it('says when more has changed than it lists', async () => {
    const staged = mkdtempSync(join(daemon.workspace, 'staged-'));
    for (let index = 0; index < 1500; index += 1) writeFileSync(join(staged, `file-${index}`), '');
    const id = await watch([top], { recursive: true });
    // All files appear at once: files that are written one by one may be told of in several batches on a busy machine.
    renameSync(staged, at('moved'));
    const overflow = await client.until(() =>
      client.all('paths_changed').find((event) => event.watch_id === id && event.overflow),
    );
    expect(overflow.changes).toHaveLength(1000);
  });

  it('does not watch secrets, and does not tell of them', async () => {
    writeFileSync(at('.env'), 'KEY=1');
    expect(await client.request('watch_paths', { paths: [at('.env')] })).toMatchObject(failing('COMMAND_DENIED'));
    const id = await watch([top]);
    writeFileSync(at('.env'), 'KEY=2');
    writeFileSync(at('other'), 'x');
    await told(id, 'created other');
    expect(toldOf(id)).toEqual(['created other']);
  });

  it.each<[string, () => object, string]>([
    ['a path that does not exist', () => ({ paths: [at('missing')] }), 'FILE_NOT_FOUND'],
    ['no path', () => ({ paths: [] }), 'INVALID_REQUEST'],
    ['too many paths', () => ({ paths: Array.from({ length: 33 }, () => top) }), 'INVALID_REQUEST'],
    ['a session that does not exist', () => ({ paths: [top], session_id: 'gone' }), 'SESSION_NOT_FOUND'],
  ])('refuses %s', async (_, payload, code) => {
    expect(await client.request('watch_paths', payload() as never)).toMatchObject(failing(code));
  });

  it('refuses too many directories, and too many watches of a connection', async () => {
    for (let index = 0; index < 1100; index += 1) mkdirSync(at(`d${index}`));
    const tooMuch = await client.request('watch_paths', { paths: [top], recursive: true });
    expect(tooMuch).toMatchObject(failing('RESOURCE_EXHAUSTED'));
    await using other = await WireClient.connect(daemon.url);
    const more = () => other.request('watch_paths', { paths: [top] });
    const answers = await Promise.all(Array.from({ length: 9 }, more));
    expect(answers.filter((answer) => 'error' in answer)).toMatchObject([failing('RATE_LIMITED')]);
  });

  it('needs a role that may read files', async () => {
    const token = daemon.createToken('viewer', 'vic');
    await using viewer = await WireClient.connect(daemon.url, ['websocket'], { token });
    expect(await viewer.request('watch_paths', { paths: ['.'] })).toMatchObject(failing('FORBIDDEN'));
  });
});

describe('over REST', () => {
  it('streams events, and ends with the connection', async () => {
    expect((await askRest(daemon.url, 'watch_paths', { paths: [top] })).body).toMatchObject(failing('INVALID_REQUEST'));
    for await (const { name, data } of streamRest(daemon.url, 'watch_paths', { paths: [top], debounce_ms: 20 })) {
      if (name === 'watch_paths_result') writeFileSync(at('file'), 'x');
      if (name !== 'paths_changed') continue;
      expect((data as EventPayload<'paths_changed'>).changes).toEqual([{ path: at('file'), change: 'created' }]);
      break;
    }
  });
});

describe('the typed client', () => {
  it('iterates changes, and says after a reconnection that some may be missing', async () => {
    await using proxy = await FlakyProxy.start(daemon.url);
    await using typed = await connect(proxy.url, { reconnectDelayMs: 10 });
    await using watched = await typed.watchPaths([top], { debounceMs: 20 });
    expect(watched.paths).toEqual([top]);
    const changes = watched[Symbol.asyncIterator]();
    writeFileSync(at('one'), 'x');
    expect((await changes.next()).value).toMatchObject({ changes: [{ change: 'created' }], overflow: false });
    proxy.cut();
    for (;;) if (((await changes.next()).value as { overflow: boolean }).overflow) break;
    writeFileSync(at('two'), 'x');
    expect((await changes.next()).value).toMatchObject({ changes: [{ path: at('two') }] });
    await watched.close();
    expect(await changes.next()).toMatchObject({ done: true });
    await expect(typed.watchPaths([at('missing')])).rejects.toMatchObject({ code: 'FILE_NOT_FOUND' });
  });
});

describe('the command line', () => {
  it.each([
    ['text', [], 'created   '],
    ['JSON', ['--json'], '{"path":'],
  ])('prints %s until it is interrupted', async (_, options, expected) => {
    await using watching = new CliProcess(['watch', '-r', top, ...options], {
      env: urlVariable(daemon),
      cwd: tmpdir(),
    });
    await watching.until('stderr', /watching/);
    writeFileSync(at('file'), 'x');
    await watching.until('stdout', new RegExp(`${at('file')}.*\n`));
    watching.child.kill('SIGINT');
    const { code, stdout } = await watching.ended;
    expect(code).toBe(0);
    expect(stdout.split('\n').find((line) => line.includes(at('file')))).toContain(expected);
  });

  it('says what cannot be watched', async () => {
    const answer = await callCli(['watch', at('missing')], { env: urlVariable(daemon) });
    expect(answer).toMatchObject({ code: 1 });
    expect(answer.stderr).toContain('no such file');
  });
});

describe.runIf(canSandbox)('in a sandbox', () => {
  it('watches as the sandbox sees it, and leaves no program', async () => {
    await using boxed = await TestDaemon.startCold({ settings: { sandbox: { profile: 'strict' } } });
    await using inside = await WireClient.connect(boxed.url);
    const session_id = await inside.openSession();
    top = boxed.workspace;
    const { watch_id } = await inside.request('watch_paths', { paths: ['.'], session_id, debounce_ms: 20 });
    await inside.run('echo x > made', session_id);
    await eventually(() => {
      expect(toldOf(watch_id, inside)).toContain('created made');
    });
    expect(await inside.request('unwatch_paths', { watch_id })).toEqual({ watch_id });
    expect(await inside.request('watch_paths', { paths: ['missing'], session_id })).toMatchObject(
      failing('FILE_NOT_FOUND'),
    );
  });
});
