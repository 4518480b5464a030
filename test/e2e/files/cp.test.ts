import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  closeSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import type { CopyPlan } from '../../../src/cli/files/file-transfers.js';
import { downloadTree } from '../../../src/cli/files/copy.js';
import { ClientFiles } from '../../../src/client/files.js';
import type { ClientLink } from '../../../src/client/link.js';
import { makeCertificate } from '../../support/network/certificate.js';
import { TestDaemon } from '../../support/daemon.js';
import { FlakyProxy } from '../../support/network/flaky-proxy.js';
import { eventually } from '../../support/measure.js';
import { canSandbox } from '../../support/sandbox.js';
import { callCli } from '../cli/in-process.js';
import { CliProcess, runCli, urlVariable } from '../cli/support.js';

let daemon: TestDaemon;
let here: string;

const there = (...names: string[]) => join(daemon.workspace, ...names);
const local = (...names: string[]) => join(here, ...names);
const options = () => ({ env: urlVariable(daemon), cwd: here });
const cp = (...args: string[]) => callCli(['cp', ...args], options());
const sha256 = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex');
const DONE = { code: 0, stdout: '', stderr: '' };

beforeAll(async () => {
  here = mkdtempSync(join(tmpdir(), 'shell-adapter-cp-'));
  daemon = await TestDaemon.start();
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  rmSync(here, { recursive: true });
});

it('copies small and large files both ways, exactly, with their permissions', async () => {
  writeFileSync(local('small'), 'small\n', { mode: 0o750 });
  writeFileSync(local('large'), randomBytes(3_333_333), { mode: 0o640 });
  expect(await cp('small', ':')).toMatchObject(DONE);
  expect(await cp('large', ':named')).toMatchObject(DONE);
  expect(readFileSync(there('small'), 'utf8')).toBe('small\n');
  expect(statSync(there('small')).mode & 0o777).toBe(0o750);
  expect(sha256(there('named'))).toBe(sha256(local('large')));
  expect(statSync(there('named')).mode & 0o777).toBe(0o640);
  mkdirSync(local('back'));
  expect(await cp(':named', 'back')).toMatchObject(DONE);
  expect(await cp(':small', 'back/other')).toMatchObject(DONE);
  expect(sha256(local('back/named'))).toBe(sha256(local('large')));
  expect(readFileSync(local('back/other'), 'utf8')).toBe('small\n');
  expect([...readdirSync(there()), ...readdirSync(local('back'))].filter((name) => name.endsWith('.part'))).toEqual([]);
});

it.each(['../escaped', 'a/b', '..', '.', '', 'a\0b'])(
  'writes nothing outside of the target for an entry %j',
  async (name) => {
    const entry = { name, type: 'file', size: 1, mode: '644' };
    const ask: CopyPlan['ask'] = (request) =>
      request({ list: () => Promise.resolve({ entries: [entry], next: null }) } as unknown as ClientFiles);
    const plan = { ask, isRecursive: true } as unknown as CopyPlan;
    const source = { path: '/x', type: 'directory', size: null, mode: '755' };
    await expect(downloadTree(source, local('target'), plan)).rejects.toMatchObject({ code: 'INVALID_ANSWER' });
    const link = { request: () => Promise.resolve({ entries: [entry], next: null }) } as unknown as ClientLink;
    await expect(new ClientFiles(link).list('/x')).rejects.toMatchObject({ code: 'INVALID_ANSWER' });
  },
);

it('copies directories with -r, without links, which it says', async () => {
  mkdirSync(local('tree/empty'), { recursive: true });
  writeFileSync(local('tree/file'), 'x');
  symlinkSync('file', local('tree/link'));
  expect((await cp('tree', ':')).stderr).toContain('is a directory');
  const { code, stderr } = await cp('-r', 'tree', ':');
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: `shell-adapter: left out ${local('tree/link')}: it is a link\n`,
  });
  expect(readdirSync(there('tree'))).toEqual(['empty', 'file']);
  writeFileSync(there('tree/empty/more'), 'y');
  expect(await cp('-r', ':tree', 'copy')).toMatchObject(DONE);
  expect(readFileSync(local('copy/empty/more'), 'utf8')).toBe('y');
});

it('goes on where an interrupted copy was, and checks the whole', async () => {
  writeFileSync(local('huge'), Buffer.alloc(80_000_000, 'x'));
  await using first = new CliProcess(['cp', 'huge', ':'], options());
  const part = await eventually(() => {
    const name = readdirSync(there()).find((each) => each.endsWith('.part'));
    expect(statSync(there(name ?? 'none')).size).toBeGreaterThan(1_000_000);
    return there(name ?? '');
  });
  first.child.kill('SIGKILL');
  await first.ended;
  // What is there is not sent again: a wrong byte in it is found at the end.
  const fd = openSync(part, 'r+');
  writeSync(fd, 'y', 0);
  closeSync(fd);
  const wrong = await cp('huge', ':');
  expect(wrong).toMatchObject({ code: 1 });
  expect(wrong.stderr).toContain('did not arrive as it is');
  expect([existsSync(part), existsSync(there('huge'))]).toEqual([false, false]);
  expect(await cp('huge', ':')).toMatchObject(DONE);
  expect(sha256(there('huge'))).toBe(sha256(local('huge')));
});

const parts = (directory: string) => readdirSync(directory).filter((name) => name.endsWith('.part'));

it('goes on by itself when the connection breaks', async () => {
  writeFileSync(local('long'), randomBytes(60_000_000));
  await using proxy = await FlakyProxy.start(daemon.url);
  await using up = new CliProcess(['cp', 'long', ':'], { env: urlVariable(proxy), cwd: here });
  await eventually(() => {
    expect(parts(there()).map((name) => statSync(there(name)).size > 1_000_000)).toEqual([true]);
  });
  proxy.cut();
  expect(await up.ended).toMatchObject({ code: 0 });
  expect(sha256(there('long'))).toBe(sha256(local('long')));
  const broken = proxy.cutAfter(20_000_000);
  await using down = new CliProcess(['cp', ':long', 'long-again'], { env: urlVariable(proxy), cwd: here });
  await broken;
  expect(await down.ended).toMatchObject({ code: 0 });
  expect(sha256(local('long-again'))).toBe(sha256(local('long')));
  expect([...parts(there()), ...parts(here)]).toEqual([]);
});

it('goes on with an interrupted copy from the daemon, unless the file is another one now', async () => {
  writeFileSync(there('source'), randomBytes(30_000_000));
  const interrupted = async () => {
    await using proxy = await FlakyProxy.start(daemon.url);
    const broken = proxy.cutAfter(10_000_000);
    await using first = new CliProcess(['cp', ':source', 'taken'], { env: urlVariable(proxy), cwd: here });
    await broken;
    proxy.refuse(true);
    proxy.cut();
    first.child.kill('SIGKILL');
    await first.ended;
    return local(parts(here)[0] ?? 'none');
  };
  const part = await interrupted();
  expect(readFileSync(there('source')).subarray(0, statSync(part).size).equals(readFileSync(part))).toBe(true);
  expect(await cp(':source', 'taken')).toMatchObject(DONE);
  expect(sha256(local('taken'))).toBe(sha256(there('source')));
  await interrupted();
  writeFileSync(there('source'), randomBytes(20_000_000));
  expect(await cp(':source', 'taken')).toMatchObject(DONE);
  expect(sha256(local('taken'))).toBe(sha256(there('source')));
  expect(parts(here)).toEqual([]);
});

it('takes a file with secrets for another one', async () => {
  await using other = await TestDaemon.startCold({ settings: { secrets: { values: ['correct-horse-battery'] } } });
  writeFileSync(join(other.workspace, 'file'), 'it is correct-horse-battery');
  const answer = await callCli(['cp', ':file', 'masked'], { env: urlVariable(other), cwd: here });
  expect(answer).toMatchObject({ code: 1 });
  expect(answer.stderr).toContain('secrets in it are masked');
  expect([existsSync(local('masked')), ...parts(here)]).toEqual([false]);
});

it('copies with a token over TLS, and over a Unix socket', async () => {
  const socket = local('socket');
  const { key, cert } = makeCertificate(here);
  const settings = { auth: { mode: 'token' }, socketio: { tls: { cert, key }, unix_socket: socket } };
  await using other = await TestDaemon.startCold({ settings });
  const env = {
    ...urlVariable(other),
    SHELL_ADAPTER_TOKEN: other.createToken('agent', 'ann'),
    NODE_EXTRA_CA_CERTS: cert,
  };
  writeFileSync(local('file'), 'content');
  expect(await runCli(['cp', 'file', ':'], { env, cwd: here })).toMatchObject(DONE);
  expect(await runCli(['cp', '--url', `unix:${socket}`, ':file', 'file-again'], { env, cwd: here })).toMatchObject(
    DONE,
  );
  expect(readFileSync(local('file-again'), 'utf8')).toBe('content');
});

it('says what has to be confirmed', async () => {
  await using other = await TestDaemon.startCold({ settings: { confirmation: { mode: 'self' } } });
  writeFileSync(local('.npmrc'), 'x');
  const answer = await callCli(['cp', '.npmrc', ':'], { env: urlVariable(other), cwd: here });
  expect(answer).toMatchObject({ code: 1 });
  expect(answer.stderr).toContain('has to be confirmed');
});

it.runIf(canSandbox)('copies from and to a sandbox', async () => {
  await using other = await TestDaemon.startCold({ settings: { sandbox: { profile: 'strict' } } });
  writeFileSync(local('boxed'), randomBytes(9_000_000), { mode: 0o640 });
  const run = (...args: string[]) => callCli(['cp', ...args], { env: urlVariable(other), cwd: here });
  expect(await run('boxed', ':')).toMatchObject(DONE);
  expect(await run(':boxed', 'boxed-again')).toMatchObject(DONE);
  expect(sha256(local('boxed-again'))).toBe(sha256(local('boxed')));
  expect(statSync(local('boxed-again')).mode & 0o777).toBe(0o640);
});

it.each([
  ['no side of the daemon', ['a', 'b'], 2, 'a colon marks the side of the daemon'],
  ['two sides of the daemon', [':a', ':b'], 2, 'a colon marks the side of the daemon'],
  ['a file that is not here', ['missing', ':'], 1, 'cannot be read'],
  ['a file that is not there', [':missing', '.'], 1, 'no such file'],
  ['a directory without -r', ['.', ':'], 1, '-r'],
  ['a path below a file', [':/etc/passwd/below', '.'], 1, 'is no directory'],
])('refuses %s', async (_, args, code, message) => {
  const answer = await cp(...args);
  expect(answer.code).toBe(code);
  expect(answer.stderr).toContain(message);
});
