import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { connect, ConfirmationRequiredError } from '../../../src/client/index.js';
import { TestDaemon } from '../../support/daemon.js';
import { WireClient } from '../../support/wire.js';
import { callCli } from '../cli/in-process.js';
import { urlVariable } from '../cli/support.js';

let daemon: TestDaemon;
let client: WireClient;

const at = (...names: string[]) => join(daemon.workspace, ...names);
const confirm = (terms: { confirmation_id?: string | undefined; command_sha256?: string | undefined }) =>
  client.request('confirm_command', {
    confirmation_id: terms.confirmation_id ?? '',
    command_sha256: terms.command_sha256,
    decision: 'approve',
    justification: 'it is meant',
  });
const asked = (fields: object) => ({ status: 'confirmation_required', requires: 'self', ...fields });

beforeAll(async () => {
  daemon = await TestDaemon.start({
    settings: { confirmation: { mode: 'self', rules: [{ action: 'deny', path: '**/forbidden/**', reason: 'no' }] } },
  });
  client = await WireClient.connect(daemon.url);
});

afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
});

describe('the policy', () => {
  it('lets work in the workspace pass', async () => {
    expect(await client.request('write_file', { path: 'plain', data: 'x' })).toMatchObject({ size: 1 });
    expect(await client.request('edit_file', { path: 'plain', old_text: 'x', new_text: 'y' })).toMatchObject({
      replaced: 1,
    });
    const { data } = await client.request('read_file', { path: 'plain', encoding: 'utf8' });
    expect(data).toBe('y');
  });

  it('has reads of credentials confirmed, also in an edit, whose answer shows them', async () => {
    writeFileSync(at('.env'), 'KEY=1\n');
    const reading = await client.request('read_file', { path: '.env', encoding: 'utf8' });
    expect(reading).toMatchObject(asked({ class: 'exfiltration', data: '', size: 0 }));
    expect(reading.reasons).toEqual([`reads credentials: ${at('.env')}`]);
    expect(await confirm(reading)).toMatchObject({
      status: 'completed',
      file: { data: 'KEY=1\n', size: 6, eof: true },
    });
    const edit = await client.request('edit_file', { path: '.env', old_text: '1', new_text: '2' });
    expect(edit).toMatchObject(asked({ class: 'exfiltration', replaced: 0, diff: '' }));
    expect(readFileSync(at('.env'), 'utf8')).toBe('KEY=1\n');
  });

  it.each(['.git/hooks/pre-commit', '.claude/settings.json', '.npmrc', '.github/workflows/ci.yml'])(
    'has writes to %s confirmed, and shows their content',
    async (path) => {
      const request = { path, data: 'content of it\n', create_directories: true };
      const answer = await client.request('write_file', request);
      expect(answer).toMatchObject(asked({ class: 'persistence', created: false }));
      expect(existsSync(at(path))).toBe(false);
      const { confirmations } = await client.request('list_confirmations', {});
      expect(confirmations.find((each) => each.confirmation_id === answer.confirmation_id)).toMatchObject({
        kind: 'file',
        command: 'write_file',
        args: [at(path), 'mode: overwrite', expect.stringMatching(/^content: 14 bytes, sha256 [0-9a-f]{64}$/)],
        stdin: 'content of it\n',
      });
      expect(await confirm(answer)).toMatchObject({ file: { created: true, size: 14 } });
      expect(readFileSync(at(path), 'utf8')).toBe('content of it\n');
    },
  );

  it('judges a link as what it leads to', async () => {
    symlinkSync('/etc', at('innocent'));
    const answer = await client.request('write_file', { path: 'innocent/shell-adapter-test', data: 'x' });
    expect(answer).toMatchObject(asked({ class: 'persistence' }));
    expect(answer.reasons?.[0]).toContain('/etc/shell-adapter-test');
  });

  it('denies what a rule denies', async () => {
    mkdirSync(at('forbidden'));
    writeFileSync(at('forbidden/file'), 'x');
    const denied = { error: { code: 'COMMAND_DENIED' } };
    expect(await client.request('read_file', { path: 'forbidden/file' })).toMatchObject(denied);
    expect(await client.request('write_file', { path: 'forbidden/new', data: '' })).toMatchObject(denied);
    expect(existsSync(at('forbidden/new'))).toBe(false);
  });
});

describe('a confirmation', () => {
  it('is void when the path leads elsewhere by then', async () => {
    mkdirSync(at('.husky'));
    const answer = await client.request('write_file', { path: '.husky/pre-push', data: 'x' });
    expect(answer).toMatchObject(asked({ class: 'persistence' }));
    rmSync(at('.husky'), { recursive: true });
    symlinkSync('elsewhere', at('.husky'));
    mkdirSync(at('elsewhere'));
    expect(await confirm(answer)).toMatchObject({ error: { code: 'CONFIRMATION_MISMATCH' } });
    expect(existsSync(at('elsewhere/pre-push'))).toBe(false);
  });

  it('is bound to the content by its hash', async () => {
    const one = await client.request('write_file', { path: '.envrc', data: 'one' });
    const two = await client.request('write_file', { path: '.envrc', data: 'two' });
    expect(one.command_sha256).not.toBe(two.command_sha256);
    const swapped = { confirmation_id: one.confirmation_id, command_sha256: two.command_sha256 };
    expect(await confirm(swapped)).toMatchObject({ error: { code: 'CONFIRMATION_MISMATCH' } });
    expect(existsSync(at('.envrc'))).toBe(false);
  });

  it('can be given at the command line', async () => {
    const answer = await client.request('write_file', { path: '.yarnrc', data: 'x' });
    const done = await callCli(['confirm', answer.confirmation_id ?? '', '--approve', '--justification', 'yes'], {
      env: urlVariable(daemon),
    });
    expect(JSON.parse(done.stdout)).toMatchObject({ size: 1, created: true });
    expect(done.code).toBe(0);
  });

  it('cannot be remembered: the next content would be another', async () => {
    const { confirmation_id = '', command_sha256 } = await client.request('write_file', { path: '.npmrc', data: 'z' });
    const answer = await client.request('confirm_command', {
      ...{ confirmation_id, command_sha256, decision: 'approve', justification: 'x', remember: 'session' },
    });
    expect(answer).toMatchObject({ error: { code: 'INVALID_REQUEST' } });
  });
});

it('a removal is saved before, and can be undone', async () => {
  mkdirSync(at('precious'));
  writeFileSync(at('precious/work'), 'work');
  const answer = await client.request('remove_path', { path: 'precious', recursive: true });
  expect(answer).toMatchObject({ removed: 2, checkpoint_id: expect.any(String) as string });
  expect(existsSync(at('precious'))).toBe(false);
  await client.request('restore_workspace', { checkpoint_id: answer.checkpoint_id ?? '', paths: ['precious'] });
  expect(readFileSync(at('precious/work'), 'utf8')).toBe('work');
});

it('an operator decides while the request waits', async () => {
  await using operated = await TestDaemon.startCold({ settings: { confirmation: { mode: 'operator' } } });
  const token = (role: 'agent' | 'operator') => ({ token: operated.createToken(role, role) });
  await using agent = await WireClient.connect(operated.url, ['websocket'], token('agent'));
  await using operator = await WireClient.connect(operated.url, ['websocket'], token('operator'));
  const writing = agent.request('write_file', { path: '.npmrc', data: 'x' });
  const { confirmation_id } = await operator.event('confirmation_required', ({ kind }) => kind === 'file');
  await operator.request('confirm_command', { confirmation_id, decision: 'approve', justification: 'seen' });
  expect(await writing).toMatchObject({ size: 1, created: true });
  const refused = agent.request('write_file', { path: '.npmrc', data: 'y' });
  const second = await operator.event('confirmation_required', (each) => each.confirmation_id !== confirmation_id);
  await operator.request('confirm_command', { confirmation_id: second.confirmation_id, decision: 'reject' });
  expect(await refused).toMatchObject({ error: { code: 'COMMAND_DENIED' } });
});

it('the typed client reads and writes, and says what has to be confirmed', async () => {
  await using typed = await connect(daemon.url);
  const session = await typed.openSession({ cwd: daemon.workspace });
  await session.files.makeDirectory('typed');
  await session.execute('cd typed');
  const { sha256 } = await session.files.write('file', 'one\n');
  await typed.files.edit('typed/file', { old_text: 'one', new_text: 'two', expected_sha256: sha256 });
  expect(await session.files.readText('file')).toBe('two\n');
  await session.files.move('file', 'moved');
  expect((await session.files.list()).entries).toMatchObject([{ name: 'moved' }]);
  expect(await typed.files.stat('typed/moved')).toMatchObject({ size: 4 });
  const refused = await typed.files.read('.env').catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ConfirmationRequiredError);
  const { confirmation_id, command_sha256 } = (refused as ConfirmationRequiredError).confirmation;
  const decision = { decision: 'approve', commandSha256: command_sha256, justification: 'x' } as const;
  expect((await typed.confirm(confirmation_id, decision)).file).toMatchObject({ size: 6 });
  expect(await typed.files.remove('typed', { recursive: true })).toMatchObject({ removed: 2 });
  await session.close();
});
