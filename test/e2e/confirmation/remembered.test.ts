import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { AuditEvent } from '../../../src/core/audit-events.js';
import type { Role } from '../../../src/core/principal.js';
import { TestDaemon } from '../../support/daemon.js';
import { WireClient, type WireAnswer } from '../../support/wire.js';
import { callCli } from '../cli/in-process.js';
import { urlVariable } from '../cli/support.js';

/** Deletions are confirmed by the client itself, and hooks of git by an operator. */
const SETTINGS = { confirmation: { mode: 'self', checkpoint: false, classes: { persistence: 'operator' } } } as const;
const HOOK = 'touch .git/hooks/pre-commit';

let directory: string;
let daemon: TestDaemon;
let agent: WireClient;
let operator: WireClient;
const secrets: Partial<Record<Role, string>> = {};

const come = (role: Role) => WireClient.connect(daemon.url, ['websocket'], { token: secrets[role] });

async function connectBoth(): Promise<void> {
  agent = await come('agent');
  operator = await come('operator');
}
async function disconnectBoth(): Promise<void> {
  await agent[Symbol.asyncDispose]();
  await operator[Symbol.asyncDispose]();
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'shell-adapter-test-'));
  daemon = await TestDaemon.startCold({ settings: SETTINGS }, directory);
  for (const role of ['agent', 'operator'] as const) secrets[role] = daemon.createToken(role, role);
  for (const name of ['.git/hooks', 'other']) mkdirSync(join(daemon.workspace, name), { recursive: true });
  await connectBoth();
});
afterAll(async () => {
  await disconnectBoth();
  await daemon[Symbol.asyncDispose]();
});

const deletable = (name: string): string => {
  const file = join(daemon.workspace, name);
  writeFileSync(file, '');
  return file;
};

type Stopped = Pick<WireAnswer<'execute_command'>, 'confirmation_id' | 'command_sha256'>;

const approve = (stopped: Stopped, changes: object, by = agent) =>
  by.request('confirm_command', {
    confirmation_id: stopped.confirmation_id!,
    decision: 'approve',
    command_sha256: stopped.command_sha256!,
    justification: 'it is made again',
    ...changes,
  });

const codesOf = ({ warnings }: WireAnswer<'execute_command'>) => warnings.map(({ code }) => code);

/** The records of one event of approvals, with the details. */
const recorded = (event: string, id: string) =>
  readFileSync(daemon.auditFile, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter((record) => (record.event as string) === event && record.details?.['approval_id'] === id);

describe('an approval that is remembered', () => {
  it('for the session lets the same command run there, until the session ends', async () => {
    const session = await agent.openSession();
    const file = deletable('a');
    const stopped = await agent.run('rm a', session);
    const approved = await approve(stopped, { remember: 'session' });
    expect(approved).toMatchObject({
      status: 'completed',
      remembered: { scope: 'session', pattern: 'rm a', expires_at: null },
    });
    const { id } = approved.remembered!;
    const resolved = await agent.event('confirmation_resolved', (event) => event.outcome === 'approved');
    expect(resolved.remembered).toEqual(approved.remembered);
    deletable('a');
    const again = await agent.run('rm a', session);
    expect(again).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(again.warnings).toEqual([{ code: 'REMEMBERED_APPROVAL', message: expect.stringContaining(id) as string }]);
    expect(existsSync(file)).toBe(false);
    expect((await agent.run('rm -f a', session)).status).toBe('confirmation_required');
    expect((await agent.run('rm a')).status).toBe('confirmation_required');
    await agent.run('rm() { echo mine; }', session);
    expect((await agent.run('rm a', session)).status).toBe('confirmation_required');
    await agent.request('close_session', { session_id: session });
    expect((await agent.request('list_remembered_approvals')).approvals).toEqual([]);
    await expect.poll(() => recorded('approval_expired', id)).toHaveLength(1);
    expect(recorded('approval_remembered', id)).toMatchObject([{ details: { scope: 'session', pattern: 'rm a' } }]);
    expect(recorded('approval_used', id)).toMatchObject([{ command: 'rm a', session_id: session }]);
  });

  it('for an hour covers other sessions, and can be revoked', async () => {
    deletable('b');
    const stopped = await agent.run('rm b');
    const { remembered } = await approve(stopped, { remember: 'hour' });
    const { id, expires_at: end } = remembered!;
    expect(Date.parse(end!) - Date.now()).toBeGreaterThan(59 * 60_000);
    deletable('b');
    expect(codesOf(await agent.run('rm b', await agent.openSession()))).toEqual(['REMEMBERED_APPROVAL']);
    deletable('b');
    const elsewhere = await agent.run('rm b', undefined, { cwd: 'other' });
    expect(elsewhere.status).toBe('confirmation_required');
    expect((await operator.run('rm b')).status).toBe('confirmation_required');
    expect((await operator.request('list_remembered_approvals')).approvals).toMatchObject([
      { id, scope: 'hour', requested_by: 'agent', approved_by: 'agent', working_directory: daemon.workspace },
    ]);
    expect((await agent.request('revoke_remembered_approval', { id })).revoked.id).toBe(id);
    expect((await agent.request('revoke_remembered_approval', { id })).error?.code).toBe('APPROVAL_NOT_FOUND');
    expect((await agent.run('rm b')).status).toBe('confirmation_required');
    await expect.poll(() => recorded('approval_revoked', id)).toMatchObject([{ principal: { name: 'agent' } }]);
  });

  it.each([
    ['always by an agent', 'rm c', { remember: 'always' }, 'FORBIDDEN'],
    ['for the session without one', 'rm c', { remember: 'session' }, 'INVALID_REQUEST'],
    ['with a variable', 'rm "$HOME/c"', { remember: 'hour' }, 'INVALID_REQUEST'],
    ['and rejected', 'rm c', { remember: 'hour', decision: 'reject' }, 'INVALID_REQUEST'],
  ])('is refused %s, and the confirmation stays open', async (_what, command, changes, code) => {
    const stopped = await agent.run(command);
    expect((await approve(stopped, changes)).error?.code).toBe(code);
    expect(await approve(stopped, { decision: 'reject' })).toMatchObject({ status: 'denied' });
  });

  it('always, by an operator, counts after a restart, and is listed and revoked at the command line', async () => {
    const running = agent.run(HOOK);
    const asked = await operator.event('confirmation_required', (event) => event.command === HOOK);
    const env = () => ({ ...urlVariable(daemon), SHELL_ADAPTER_TOKEN: secrets.operator });
    const decided = await callCli(['confirm', asked.confirmation_id, '--approve', '--remember', 'always'], {
      env: env(),
    });
    expect(decided).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(
        /remembered as approval_\S+ \(always\): touch \.git\/hooks\/pre-commit\n$/,
      ) as string,
    });
    expect((await running).status).toBe('completed');
    await disconnectBoth();
    await daemon.stop();
    daemon = await TestDaemon.startCold({ settings: SETTINGS }, directory);
    await connectBoth();
    expect(codesOf(await agent.run(HOOK))).toEqual(['REMEMBERED_APPROVAL']);

    const listed = await callCli(['confirm', '--remembered'], { env: env() });
    expect(listed.stdout).toMatch(
      /^APPROVAL +SCOPE +LEFT +FOR +APPROVED BY +DIRECTORY +COMMAND\napproval_\S+ +always +- +agent +operator .*touch/,
    );
    const [id = ''] = /approval_\S+/.exec(listed.stdout) ?? [];
    const json = await callCli(['confirm', '--remembered', '--json'], { env: env() });
    expect(JSON.parse(json.stdout)).toMatchObject({ approvals: [{ id, scope: 'always' }], problem: null });
    const revoked = await callCli(['confirm', '--remembered', '--revoke', id], { env: env() });
    expect(revoked).toMatchObject({ code: 0, stdout: `revoked ${id}: ${HOOK}\n` });
    expect((await callCli(['confirm', '--remembered'], { env: env() })).stdout).toBe('No approval is remembered.\n');
    const stopped = agent.run(HOOK);
    const { confirmation_id } = await operator.event('confirmation_required', (event) => event.command === HOOK);
    await operator.request('confirm_command', { confirmation_id, decision: 'reject' });
    expect((await stopped).error?.code).toBe('COMMAND_DENIED');
  });

  it('in a damaged file is reported', async () => {
    await disconnectBoth();
    await daemon.stop();
    const file = join(directory, 'state', 'approvals.json');
    writeFileSync(file, '{', { mode: 0o600 });
    daemon = await TestDaemon.startCold({ settings: SETTINGS }, directory);
    await connectBoth();
    const { approvals, problem } = await agent.request('list_remembered_approvals');
    expect({ approvals, problem }).toEqual({ approvals: [], problem: expect.stringContaining(file) as string });
    const { stdout } = await callCli(['doctor', '--config', join(directory, 'config.yaml')], {
      env: urlVariable(daemon),
    });
    expect(stdout).toMatch(/approvals .*is damaged/);
    rmSync(file);
  });

  it.each([
    [
      '--remember without --approve',
      ['approval_x', '--reject', '--remember', 'hour'],
      '--remember goes with --approve',
    ],
    ['--revoke alone', ['--revoke', 'approval_x'], '--revoke goes with --remembered'],
    ['an id to list', ['confirmation_x', '--remembered'], '--remembered takes only'],
    [
      'an unknown scope',
      ['confirmation_x', '--approve', '--remember', 'week'],
      'Allowed choices are session, hour, always',
    ],
  ])('is not wanted with %s', async (_what, args, message) => {
    const { code, stderr } = await callCli(['confirm', ...args], { env: urlVariable(daemon) });
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) as string });
  });
});
