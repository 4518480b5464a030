import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, it } from 'vitest';

import { useDaemon } from '../../support/daemon-and-client.js';
import { TestDaemon } from '../../support/daemon.js';
import { WireClient } from '../../support/wire.js';

let daemon: TestDaemon;
let client: WireClient;
// A configuration that says nothing of confirmations means the shipped preset.
useDaemon((started) => ({ daemon, client } = started), {
  settings: { confirmation: {}, checkpoints: { max_file_mb: 1 } },
});

const inWorkspace = (name: string) => join(daemon.workspace, name);

/** Makes two files, one that no checkpoint contains, a repository, and a link that leads out. */
beforeEach(() => {
  for (const name of ['build', 'large', 'other']) mkdirSync(inWorkspace(name), { recursive: true });
  writeFileSync(inWorkspace('build/one'), '1');
  writeFileSync(inWorkspace('build/two.o'), '2');
  writeFileSync(inWorkspace('large/file'), Buffer.alloc(1024 * 1024 + 1));
  execFileSync('git', ['init', '-q', inWorkspace('other')]);
  if (!existsSync(inWorkspace('out'))) symlinkSync('/srv', inWorkspace('out'));
});

describe('a command that destroys files in the workspace', () => {
  it('runs without a question, and its checkpoint brings them back', async () => {
    const result = await client.run('rm -rf build && echo done');
    expect(result).toMatchObject({ status: 'completed', stdout: 'done\n' });
    expect(existsSync(inWorkspace('build'))).toBe(false);
    const { checkpoint_id: id = '', warnings } = result;
    expect(warnings).toEqual([{ code: 'CHECKPOINT_SAVED', message: expect.stringContaining(id) as string }]);
    await client.request('restore_workspace', { checkpoint_id: id });
    expect(readFileSync(inWorkspace('build/one'), 'utf8')).toBe('1');
  });

  it.each([
    ['a pattern', 'rm build/*.o'],
    ['a file elsewhere below the workspace', 'cd build && rm two.o'],
    ['git clean', 'cd other && touch new && git clean -fd'],
    ['git checkout of files', 'cd other && git checkout -- .'],
    ['a file that is not there', 'rm -f no-such'],
  ])('such as %s', async (_, command) => {
    const result = await client.run(command);
    expect(result.status).toBe('completed');
    expect(result.checkpoint_id).toMatch(/^checkpoint_/);
  });

  it('keeps its place before the next command of its session', async () => {
    const session = await client.openSession();
    const [first, second] = await Promise.all([
      client.run('rm -rf build; cd other', session),
      client.run('basename "$PWD"; ls -d ../build', session),
    ]);
    expect(first).toMatchObject({ status: 'completed', checkpoint_id: expect.any(String) as string });
    expect(second).toMatchObject({ stdout: 'other\n', exit_code: 2 });
  });

  it.each([
    ['a file that is too large', 'rm -rf large', 'larger than'],
    ['a directory with a repository', 'rm -rf other', 'other/.git'],
    ['the files of a repository', 'rm -rf other/.git/refs', 'other/.git'],
    ['a file behind that link', 'rm -f out/file', 'leads out of the workspace'],
    ['what that link leads to', 'find out -delete', 'leads out of the workspace'],
    ['a file outside', 'rm -rf ../no-such', 'rm deletes'],
    ['a file that an earlier link may lead away from', 'ln -sfn /srv build; rm -f build/one', 'rm deletes'],
    ['what another program deletes', "sh -c 'rm -rf build'", 'rm deletes'],
    ['what is deleted later, elsewhere', "trap 'rm -rf build' EXIT", 'rm deletes'],
    ['what is deleted on another machine', 'ssh host rm -rf build', 'rm deletes'],
    ['an unknown path', 'rm -rf "$NAME"', 'known only at run time'],
    ['what is not a file', 'rm -rf build; kill 999999', 'kill signals'],
  ])('has to be confirmed for %s', async (_, command, reason) => {
    const { status, reasons, checkpoint_id: id } = await client.run(command);
    expect(status).toBe('confirmation_required');
    expect(reasons?.join('\n')).toContain(reason);
    expect(id).toBeUndefined();
  });

  it('has to be confirmed while the session runs something else', async () => {
    const session = await client.openSession();
    const running = client.run('echo ready; read line', session, { stream: true });
    await client.event('command_output');
    const { status, reasons } = await client.run(`rm -rf ${inWorkspace('build')}`, session);
    expect(status).toBe('confirmation_required');
    expect(reasons?.[0]).toContain('the session runs another command');
    await client.request('send_input', { session_id: session, data: 'x\n' });
    await running;
  });

  it('is judged so by check_command too, where nothing is saved', async () => {
    const before = await client.request('list_checkpoints', {});
    expect(await client.request('check_command', { command: 'rm -rf build' })).toMatchObject({
      action: 'checkpoint',
      class: 'destructive',
      enforced: true,
    });
    expect(await client.request('list_checkpoints', {})).toEqual(before);
  });
});

describe('where no checkpoint can be made', () => {
  it.each([
    ['in time', { confirmation: { checkpoint_timeout: 0.001 } }, 'could not be saved within 0.001 s'],
    ['of so many files', { confirmation: {}, checkpoints: { max_files: 1 } }, 'checkpoints.max_files'],
    ['because none is wanted', { confirmation: { checkpoint: false } }, 'rm deletes'],
  ])('%s, the command has to be confirmed', async (_, settings, reason) => {
    await using own = await TestDaemon.startCold({ settings });
    await using other = await WireClient.connect(own.url);
    for (const name of ['one', 'two']) writeFileSync(join(own.workspace, name), name);
    const stopped = await other.run('rm one');
    expect(stopped.status).toBe('confirmation_required');
    expect(stopped.reasons?.join('\n')).toContain(reason);
    const done = await other.request('confirm_command', {
      confirmation_id: stopped.confirmation_id!,
      decision: 'approve',
      command_sha256: stopped.command_sha256!,
      justification: 'it is not needed any more',
    });
    expect(done).toMatchObject({ status: 'completed', exit_code: 0 });
  });
});
