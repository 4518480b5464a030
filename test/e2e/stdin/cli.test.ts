import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { connect } from '../../../src/client/index.js';
import { TestDaemon } from '../../support/daemon.js';
import { CliProcess, type CliOptions, makeFolder, runCli, urlVariable } from '../cli/support.js';

let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await TestDaemon.start({
    settings: { confirmation: { mode: 'self' }, adapter: { reconnect_grace: 0.5 } },
  });
});
afterAll(() => daemon[Symbol.asyncDispose]());

const withUrl = (options: CliOptions = {}): CliOptions => ({ ...options, env: urlVariable(daemon) });
const exec = (args: readonly string[], options?: CliOptions) => runCli(['exec', ...args], withUrl(options));
const sha256 = (data: Uint8Array) => createHash('sha256').update(data).digest('hex');

describe('exec passes its standard input on', () => {
  it('as an archive of a tree with binary files, byte for byte', async () => {
    using folder = makeFolder();
    const tree = join(folder.path, 'x');
    mkdirSync(join(tree, 'deep', 'er'), { recursive: true });
    writeFileSync(join(tree, 'binary'), randomBytes(2 * 1024 * 1024));
    writeFileSync(join(tree, 'deep', 'er', 'text'), 'é漢😀\n');
    writeFileSync(join(tree, 'empty'), '');
    symlinkSync('binary', join(tree, 'link'));
    mkdirSync(join(daemon.workspace, 'y'));
    const { code, stderr } = await exec(['tar x -C y'], {
      input: execFileSync('tar', ['c', '-C', tree, '.'], { maxBuffer: 2 ** 26 }),
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(execFileSync('diff', ['-r', '--no-dereference', tree, join(daemon.workspace, 'y')]).toString()).toBe('');
  });

  it('of 20 MB of random bytes', async () => {
    const data = randomBytes(20 * 1024 * 1024);
    expect(await exec(['sha256sum'], { input: data })).toMatchObject({ code: 0, stdout: `${sha256(data)}  -\n` });
  });

  it.each([
    ['text', 'é漢\n'],
    ['nothing', ''],
    ['a NUL and no text', Buffer.from([0, 0xff, 0xfe])],
  ])('of %s', async (_what, input) => {
    const { code, bytes } = await exec(['cat'], { input });
    expect({ code, bytes }).toEqual({ code: 0, bytes: Buffer.from(input) });
  });

  it('to a program in place of the shell of a session', async () => {
    await using client = await connect(daemon.url);
    const { id } = await client.openSession();
    const inSession = (command: string) => exec(['--session', id, command], { input: 'in\n' });
    expect(await inSession('exec cat')).toMatchObject({ code: 0, stdout: 'in\n' });
    expect(await inSession('exec sh -c "sleep 0.3; echo out"')).toMatchObject({ code: 0, stdout: 'out\n' });
  });

  it('while it is still being written', async () => {
    await using call = new CliProcess(['exec', 'read -r a; echo "got $a"; cat'], withUrl({ input: { open: true } }));
    call.child.stdin?.write('one\n');
    await call.until('stdout', /got one\n/);
    call.child.stdin?.end('two\n');
    expect(await call.ended).toMatchObject({ code: 0, stdout: 'got one\ntwo\n' });
  });

  it('no longer than the command runs', async () => {
    await using call = new CliProcess(['exec', 'head -1'], withUrl({ input: { open: true } }));
    call.child.stdin?.write('first\nsecond\n');
    expect(await call.ended).toMatchObject({ code: 0, stdout: 'first\n', stderr: '' });
    await using quiet = new CliProcess(['exec', 'echo there'], withUrl({ input: { open: true } }));
    expect(await quiet.ended).toMatchObject({ code: 0, stdout: 'there\n', stderr: '' });
  });
});

describe('the policy', () => {
  it.each([
    ['at once', false],
    ['slowly', true],
  ])('judges a short script that comes %s', async (_how, isSlow) => {
    const runScript = async (script: string) => {
      await using call = new CliProcess(['exec', 'bash'], withUrl({ input: isSlow ? { open: true } : script }));
      // The daemon was asked about a shell with an input that cannot be seen once the first line has come without the end.
      if (isSlow) setTimeout(() => call.child.stdin?.end(script), 1000);
      return await call.ended;
    };
    expect(await runScript('echo harmless\n')).toMatchObject({ code: 0, stdout: 'harmless\n' });
    expect(await runScript('rm -rf "$HOME/x"\n')).toMatchObject({ code: 126, stdout: '' });
  });

  it('has a shell confirmed whose script is too large to be judged', async () => {
    const { code, stdout, stderr } = await exec(['bash'], { input: `${'#'.repeat(3_000_000)}\necho run\n` });
    expect({ code, stdout }).toEqual({ code: 126, stdout: '' });
    expect(stderr).toContain('a streamed standard input, which the policy cannot see');
  });
});

it('a command whose exec was killed is ended, and nothing of it stays', async () => {
  const marker = join(daemon.workspace, 'complete');
  await using call = new CliProcess(
    ['exec', `echo up; cat >/dev/null; touch '${marker}'`],
    withUrl({ input: { open: true } }),
  );
  call.child.stdin?.write(Buffer.alloc(3 * 1024 * 1024, 'x'));
  await call.until('stdout', /up\n/);
  call.child.kill('SIGKILL');
  await call.ended;
  const ended = () =>
    readFileSync(daemon.auditFile, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"command_ended"'))
      .at(-1);
  await expect.poll(ended, { timeout: 20_000 }).toContain('"killed_by":"client"');
  expect(() => readFileSync(marker)).toThrow('ENOENT');
});
