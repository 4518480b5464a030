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

import { TestDaemon } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';
import { CliProcess, runCli, urlVariable } from '../cli/support.js';

let daemon: TestDaemon;
let here: string;

const there = (...names: string[]) => join(daemon.workspace, ...names);
const local = (...names: string[]) => join(here, ...names);
const options = () => ({ env: urlVariable(daemon), cwd: here });
const cp = (...args: string[]) => runCli(['cp', ...args], options());
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

it.each([
  ['no side of the daemon', ['a', 'b'], 2, 'a colon marks the side of the daemon'],
  ['two sides of the daemon', [':a', ':b'], 2, 'a colon marks the side of the daemon'],
  ['a file that is not here', ['missing', ':'], 1, 'cannot be read'],
  ['a file that is not there', [':missing', '.'], 1, 'no such file'],
])('refuses %s', async (_, args, code, message) => {
  const answer = await cp(...args);
  expect(answer.code).toBe(code);
  expect(answer.stderr).toContain(message);
});
