import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Role } from '../../../src/core/principal.js';
import { TestDaemon } from '../../support/daemon.js';
import { WireClient } from '../../support/wire.js';
import { callCli } from '../cli/in-process.js';
import { urlVariable } from '../cli/support.js';

let daemon: TestDaemon;
const clients: WireClient[] = [];

async function come(role: Role, name: string): Promise<WireClient> {
  const client = await WireClient.connect(daemon.url, ['websocket'], { token: daemon.createToken(role, name) });
  clients.push(client);
  return client;
}

const cli = (...args: string[]) => callCli(args, { env: urlVariable(daemon) });
const exists = (name: string) => existsSync(join(daemon.workspace, name));

afterAll(async () => {
  await Promise.all(clients.map((client) => client[Symbol.asyncDispose]()));
});

describe('a restore of a workspace in which others work', () => {
  let agent: WireClient;
  let other: WireClient;
  let operator: WireClient;
  beforeAll(async () => {
    daemon = await TestDaemon.start({ settings: { confirmation: { mode: 'operator' } } });
    [agent, other, operator] = [await come('agent', 'ann'), await come('agent', 'bob'), await come('operator', 'olga')];
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  const save = async () => (await agent.request('checkpoint_workspace', {})).checkpoint_id;
  const restore = (checkpoint_id: string) => agent.request('restore_workspace', { checkpoint_id });
  const asked = (id: string) => operator.event('confirmation_required', ({ args }) => args?.[0] === id);
  const decide = (confirmation_id: string, decision: 'approve' | 'reject') =>
    operator.request('confirm_command', { confirmation_id, decision, justification: 'looked at it' });

  it('needs no confirmation for the files of its own token', async () => {
    const id = await save();
    await agent.run('echo mine > own');
    expect(await restore(id)).toMatchObject({ removed: ['own'], undo_checkpoint_id: expect.any(String) as string });
  });

  it('waits for an operator when it would remove files of another token', async () => {
    const id = await save();
    await other.run('echo work > theirs');
    const restoring = restore(id);
    const question = await asked(id);
    expect(question).toMatchObject({
      kind: 'restore',
      class: 'destructive',
      command: 'restore_workspace',
      requested_by: 'ann',
      working_directory: daemon.workspace,
      reasons: ['since the checkpoint, bob ran commands in the workspace: files may be theirs', 'removes theirs'],
    });
    expect(exists('theirs')).toBe(true);
    const [decided, restored] = await Promise.all([decide(question.confirmation_id, 'approve'), restoring]);
    expect(restored).toMatchObject({ removed: ['theirs'], removed_count: 1 });
    expect(decided).toMatchObject({ status: 'completed', restored: { removed: ['theirs'] } });
    expect(exists('theirs')).toBe(false);
  });

  it('changes nothing when the operator refuses', async () => {
    const id = await save();
    await other.run('echo work > kept');
    const restoring = restore(id);
    await decide((await asked(id)).confirmation_id, 'reject');
    expect(await restoring).toMatchObject({ error: { code: 'COMMAND_DENIED' } });
    expect(exists('kept')).toBe(true);
  });

  it('is not done when further files have come since the question', async () => {
    const id = await save();
    await other.run('echo work > first');
    const restoring = restore(id);
    const { confirmation_id } = await asked(id);
    await other.run('echo work > second');
    const mismatch = { error: { code: 'CONFIRMATION_MISMATCH' } };
    expect(await decide(confirmation_id, 'approve')).toMatchObject(mismatch);
    expect(await restoring).toMatchObject(mismatch);
    expect([exists('first'), exists('second')]).toEqual([true, true]);
  });

  it('brings back what another token has deleted without a question', async () => {
    await agent.run('echo mine > lost');
    const id = await save();
    await other.run('mv lost ../lost-elsewhere');
    expect(await restore(id)).toMatchObject({ restored: ['lost'], removed: [] });
  });
});

describe('a restore that its client has to confirm', () => {
  beforeAll(async () => {
    daemon = await TestDaemon.start({ settings: { confirmation: { mode: 'self' } } });
  });
  afterAll(() => daemon[Symbol.asyncDispose]());

  it('is shown, refused with exit code 126, and done by `confirm`', async () => {
    const other = await come('agent', 'bob');
    const { stdout } = await cli('checkpoint', '--json');
    const { checkpoint_id: id } = JSON.parse(stdout) as { checkpoint_id: string };
    await other.run('echo work > theirs');
    const refused = await cli('restore', id);
    expect(refused).toMatchObject({ code: 126, stdout: '' });
    expect(refused.stderr).toContain('would remove theirs');
    const [, confirmation = ''] = /confirm (confirmation_\S+) --approve/.exec(refused.stderr) ?? [];
    const done = await cli('confirm', confirmation, '--approve', '--justification', 'agreed with bob');
    expect(done.stdout).toMatch(/^removed {2}theirs\n0 restored, 1 removed; undo: /);
    expect(done.code).toBe(0);
    expect(exists('theirs')).toBe(false);
  });
});
