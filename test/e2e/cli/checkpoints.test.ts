import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { makeTree } from '../../support/tree.js';
import { callCli } from './in-process.js';
import { urlVariable } from './support.js';

let daemon: TestDaemon;
const file = (name: string) => join(daemon.workspace, name);
const call = (...args: string[]) => callCli(args, { env: urlVariable(daemon) });

beforeAll(async () => {
  daemon = await TestDaemon.start({ settings: { checkpoints: { max_file_mb: 1 } } });
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
});

describe('checkpoint, diff and restore', () => {
  it('save the workspace, show what has changed, bring it back, and undo that', async () => {
    expect(await call('checkpoint', '--list')).toMatchObject({
      code: 0,
      stdout: 'There is no checkpoint of the workspace.\n',
    });
    makeTree(daemon.workspace, { 'src/main.c': 'one\n', 'notes.txt': 'a\n' });
    const saved = await call('checkpoint', 'first try');
    expect(saved).toMatchObject({ code: 0, stderr: '' });
    const id = saved.stdout.trim();
    expect(id).toMatch(/^checkpoint_[\w-]{22}$/);
    const list = await call('checkpoint', '--list');
    expect(list.stdout).toMatch(/^CHECKPOINT +KIND +AGE +FILES +SIZE +LABEL\n/);
    expect(list.stdout).toMatch(new RegExp(`^${id} +requested +\\ds +2 +6 B +first try$`, 'm'));
    writeFileSync(file('src/main.c'), 'two\n');
    rmSync(file('notes.txt'));
    writeFileSync(file('line\nbreak'), '\n');
    expect(await call('diff')).toMatchObject({
      code: 0,
      stdout: 'added     line\\nbreak\ndeleted   notes.txt\nmodified  src/main.c\n',
    });
    expect((await call('diff', id, 'src', '--stat')).stdout).toBe('modified  +1 -1  src/main.c\n');
    const restored = await call('restore', id);
    expect(restored.code).toBe(0);
    expect(restored.stdout).toMatch(
      /^restored notes\.txt\nrestored src\/main\.c\nremoved {2}line\\nbreak\n2 restored, 1 removed; undo: \S.* restore (checkpoint_\S+)\n$/,
    );
    const [, undo = ''] = /restore (checkpoint_\S+)/.exec(restored.stdout) ?? [];
    expect(await call('restore', undo, 'notes.txt')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('removed  notes.txt\n0 restored, 1 removed') as string,
    });
    expect(readFileSync(file('src/main.c'), 'utf8')).toBe('one\n');
  });

  it.each([
    [['checkpoint', '--list', 'label'], '--list saves nothing, and takes no label'],
    [['diff', '--stat', '--patch'], "'--stat' cannot be used with option '-p, --patch'"],
  ])('what cannot go together is refused: %j', async (args, message) => {
    expect(await call(...args)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(message) as string,
    });
  });

  it('print a patch that can be applied, however long it is', async () => {
    makeTree(daemon.workspace, { 'long.txt': 'x\n' });
    const id = (await call('checkpoint')).stdout.trim();
    const content = Buffer.concat([Buffer.from('some line\n'.repeat(20_000)), Buffer.from([0xff, 0x0a])]);
    writeFileSync(file('long.txt'), content);
    const { bytes, stderr } = await call('diff', id, '--patch');
    expect(stderr).toBe('');
    await call('restore', id);
    execFileSync('git', ['apply', '-'], { cwd: daemon.workspace, input: bytes });
    expect(readFileSync(file('long.txt')).equals(content)).toBe(true);
  });

  it('say what is not saved, and what is not as it was', async () => {
    writeFileSync(file('big.bin'), Buffer.alloc(2 * 1024 * 1024));
    const saved = await call('checkpoint');
    expect(saved.stderr).toBe('shell-adapter: not saved:\n  big.bin (too large)\n');
    rmSync(file('big.bin'));
    const restored = await call('restore', saved.stdout.trim());
    expect(restored.stderr).toBe('shell-adapter: not as it was:\n  big.bin (too large)\n');
  });

  it('print JSON as the protocol has it', async () => {
    const saved = JSON.parse((await call('checkpoint', '--json')).stdout) as { checkpoint_id: string };
    const list = JSON.parse((await call('checkpoint', '--list', '--json')).stdout) as { checkpoints: object[] };
    expect(list.checkpoints.at(-1)).toMatchObject({ checkpoint_id: saved.checkpoint_id });
    expect(JSON.parse((await call('diff', '--json')).stdout)).toMatchObject({ change_count: 0, patch: null });
    expect(JSON.parse((await call('restore', saved.checkpoint_id, '--json')).stdout)).toMatchObject({ restored: [] });
  });

  it('exit with 1 and say what to do about an unknown checkpoint', async () => {
    const { code, stdout, stderr } = await call('restore', 'checkpoint_none');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('there is no checkpoint checkpoint_none');
    expect(stderr).toContain('checkpoint --list');
  });
});

describe('doctor', () => {
  it('looks for git', async () => {
    const { stdout } = await call('doctor');
    expect(stdout).toMatch(/^ok +git +\/\S*git, git version \d/m);
  });
});
