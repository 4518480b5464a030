import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { Role } from '../../../src/core/principal.js';
import { TestDaemon } from '../../support/daemon.js';
import { WireClient, type WireAnswer } from '../../support/wire.js';

let daemon: TestDaemon;
let agent: WireClient;
let operator: WireClient;

const come = (role: Role, name: string, on = daemon) =>
  WireClient.connect(on.url, ['websocket'], { token: on.createToken(role, name) });

beforeAll(async () => {
  daemon = await TestDaemon.start({
    settings: { confirmation: { mode: 'operator', checkpoint: false, classes: { privilege: 'self' } } },
  });
  agent = await come('agent', 'agent');
  operator = await come('operator', 'operator');
});
afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await operator[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
});

const inWorkspace = (name: string) => join(daemon.workspace, name);
const eventOf = (client: WireClient, command: string) =>
  client.event('confirmation_required', (event) => event.command === command);

const decide = (id: string, decision: 'approve' | 'reject', by = operator) =>
  by.request('confirm_command', { confirmation_id: id, decision, justification: 'looked at it' });

describe('a command that an operator has to confirm', () => {
  it('waits, runs for its owner, and both get the result', async () => {
    const session_id = await agent.openSession({ label: 'build' });
    const running = agent.run('echo ran; rm -f none', session_id, { command_id: 'mine' });
    const asked = await eventOf(operator, 'echo ran; rm -f none');
    expect(asked).toMatchObject({
      requires: 'operator',
      requested_by: 'agent',
      session_label: 'build',
      may_decide: true,
      command_id: 'mine',
    });
    expect(await eventOf(agent, 'echo ran; rm -f none')).toMatchObject({ may_decide: false });
    const [decided, result] = await Promise.all([decide(asked.confirmation_id, 'approve'), running]);
    expect(result).toMatchObject({ status: 'completed', stdout: 'ran\n', command_id: 'mine', session_id });
    expect(decided).toEqual(result);
    expect(await agent.event('confirmation_resolved', (event) => event.command_id === 'mine')).toMatchObject({
      outcome: 'approved',
      decided_by: 'operator',
      justification: 'looked at it',
    });
    expect((await agent.request('wait_command', { command_id: 'mine' })).stdout).toBe('ran\n');
  });

  it('is denied when the operator refuses, with why', async () => {
    writeFileSync(inWorkspace('kept'), '');
    const running = agent.run('rm kept');
    const { confirmation_id } = await eventOf(operator, 'rm kept');
    expect(await decide(confirmation_id, 'reject')).toMatchObject({ status: 'denied' });
    expect((await running).error).toMatchObject({
      code: 'COMMAND_DENIED',
      message: expect.stringContaining('operator has refused it: looked at it') as string,
      details: { outcome: 'rejected', decided_by: 'operator', confirmation_id },
    });
    expect(existsSync(inWorkspace('kept'))).toBe(true);
  });

  it('is not confirmed by who asked, by connections without a token, or by other agents', async () => {
    const running = agent.run('rm -f guarded');
    const { confirmation_id: id } = await eventOf(operator, 'rm -f guarded');
    await using local = await WireClient.connect(daemon.url);
    await using other = await come('agent', 'other');
    expect((await decide(id, 'approve', agent)).error?.code).toBe('FORBIDDEN');
    expect((await decide(id, 'approve', local)).error).toMatchObject({
      code: 'FORBIDDEN',
      message: expect.stringContaining('token create --role operator') as string,
    });
    expect((await decide(id, 'approve', other)).error?.code).toBe('CONFIRMATION_NOT_FOUND');
    expect((await other.request('list_confirmations')).confirmations).toEqual([]);
    await decide(id, 'reject');
    await running;
  });

  it('of an operator takes another one', async () => {
    await using second = await come('operator', 'second');
    const running = second.run('echo two; rm -f none');
    const { confirmation_id: id } = await eventOf(operator, 'echo two; rm -f none');
    expect((await decide(id, 'approve', second)).error?.code).toBe('FORBIDDEN');
    await decide(id, 'approve');
    expect((await running).stdout).toBe('two\n');
  });

  it('F25: runs once when two operators approve it and a third rejects it at the same time', async () => {
    await using second = await come('admin', 'chief');
    for (let round = 0; round < 5; round += 1) {
      const command = `echo ran >> once${round}; rm -f none`;
      const running = agent.run(command);
      const { confirmation_id: id } = await eventOf(operator, command);
      await eventOf(second, command);
      const answers = await Promise.all([
        decide(id, 'approve'),
        decide(id, 'approve', second),
        decide(id, 'reject', second),
        decide(id, 'approve'),
      ]);
      const won = answers.filter(({ error }) => error === undefined);
      expect(won).toHaveLength(1);
      const hasRun = won[0]!.status === 'completed';
      expect((await running).error?.code).toBe(hasRun ? undefined : 'COMMAND_DENIED');
      expect(existsSync(inWorkspace(`once${round}`))).toBe(hasRun);
    }
  });

  it('in the background is answered at once, and waited for', async () => {
    const started = await agent.run('echo later; rm -f none', undefined, { background: true });
    expect(started).toMatchObject({ status: 'confirmation_required', requires: 'operator' });
    const waiting = agent.request('wait_command', { command_id: started.command_id });
    await decide(started.confirmation_id!, 'approve');
    expect(await waiting).toMatchObject({ status: 'completed', stdout: 'later\n' });
  });

  it('is withdrawn by a signal, and by the end of its connection', async () => {
    const running = agent.run('rm -f called-off', undefined, { command_id: 'called-off' });
    const { confirmation_id: id } = await eventOf(operator, 'rm -f called-off');
    expect(await agent.request('signal_command', { command_id: 'called-off', signal: 'SIGINT' })).toEqual({
      signalled: [],
    });
    expect((await running).error?.code).toBe('COMMAND_DENIED');
    expect((await decide(id, 'approve')).error?.code).toBe('CONFIRMATION_NOT_FOUND');
    const leaving = await come('agent', 'leaving');
    void leaving.run('rm -f left').catch(() => undefined);
    const left = await eventOf(operator, 'rm -f left');
    leaving.socket.disconnect();
    const resolved = await operator.event(
      'confirmation_resolved',
      (event) => event.confirmation_id === left.confirmation_id,
    );
    expect(resolved).toMatchObject({ outcome: 'withdrawn', decided_by: null });
  });

  it('is not run for a token that was revoked meanwhile, though nobody waits for it', async () => {
    writeFileSync(inWorkspace('orphan'), '');
    await using revoked = await come('agent', 'revoked');
    const asking = revoked.run('rm orphan', undefined, { background: true });
    const { confirmation_id } = await eventOf(operator, 'rm orphan');
    expect((await asking).status).toBe('confirmation_required');
    daemon.tokens.revoke('revoked');
    expect((await decide(confirmation_id, 'approve')).error).toMatchObject({
      code: 'COMMAND_DENIED',
      details: { outcome: 'withdrawn' },
    });
    expect(existsSync(inWorkspace('orphan'))).toBe(true);
  });

  it('streams to the client that asked', async () => {
    const running = agent.run('echo streamed; rm -f none', undefined, { stream: true, command_id: 'streamed' });
    const { confirmation_id } = await eventOf(operator, 'echo streamed; rm -f none');
    await decide(confirmation_id, 'approve');
    expect((await agent.event('command_output', (event) => event.command_id === 'streamed')).data).toBe('streamed\n');
    await running;
  });

  it('does not hold up the commands behind it', async () => {
    const session_id = await agent.openSession();
    const waiting = agent.run('rm -f first', session_id);
    expect((await agent.run('echo second', session_id)).stdout).toBe('second\n');
    const { confirmation_id } = await eventOf(operator, 'rm -f first');
    await decide(confirmation_id, 'approve');
    expect((await waiting).status).toBe('completed');
  });

  it('typed text waits too', async () => {
    const session_id = await agent.openSession();
    writeFileSync(join(daemon.workspace, 'inner'), 'exec bash --norc\n');
    const running = agent.run('sh ./inner', session_id, { cwd: daemon.workspace });
    await agent.event('awaiting_input', (event) => event.session_id === session_id);
    const type = (data: string) => agent.request('send_input', { session_id, data });
    const asking = () =>
      operator.until(() => operator.all('confirmation_required').findLast((event) => event.session_id === session_id));
    const taken = type('rm -f taken-back\n');
    const { confirmation_id } = await asking();
    const reject = { confirmation_id, decision: 'reject' } as const;
    expect(await agent.request('confirm_command', reject)).toMatchObject({ status: 'denied', accepted_bytes: 0 });
    expect((await taken).error).toMatchObject({ code: 'COMMAND_DENIED', details: { outcome: 'withdrawn' } });
    const typing = type('rm -f typed; exit 3\n');
    const asked = await operator.event('confirmation_required', (event) => {
      return event.session_id === session_id && event.confirmation_id !== confirmation_id;
    });
    expect(asked).toMatchObject({
      kind: 'input',
      command: '19 characters typed into bash',
      reasons: ['rm deletes or overwrites something, or ends processes'],
    });
    expect(JSON.stringify(asked)).not.toContain('typed; exit');
    await decide(asked.confirmation_id, 'approve');
    expect(await typing).toEqual({ accepted_bytes: 20 });
    expect((await running).exit_code).toBe(3);
  });

  it('of a class with another way is confirmed in that way, unless a stricter one is in it', async () => {
    expect(await agent.run('sudo -n true')).toMatchObject({ status: 'confirmation_required', requires: 'self' });
    const both: Promise<WireAnswer<'execute_command'>> = agent.run('sudo -n true; rm -f none');
    const { confirmation_id } = await eventOf(operator, 'sudo -n true; rm -f none');
    await decide(confirmation_id, 'reject');
    await both;
  });
});

describe('the end of waiting', () => {
  it('expires', async () => {
    await using hasty = await TestDaemon.startCold({
      settings: { confirmation: { mode: 'operator', checkpoint: false, expires: 0.2 } },
    });
    await using client = await WireClient.connect(hasty.url);
    const { error } = await client.run('rm -f x');
    expect(error).toMatchObject({ code: 'COMMAND_DENIED', details: { outcome: 'expired' } });
    expect(error?.message).toContain('the confirmation expired');
    expect((await client.request('list_confirmations')).confirmations).toEqual([]);
  });

  it('comes with the daemon’s: whoever waits is told', async () => {
    await using ending = await TestDaemon.startCold({
      settings: { confirmation: { mode: 'operator', checkpoint: false } },
    });
    await using client = await WireClient.connect(ending.url);
    const running = client.run('rm -f x');
    await eventOf(client, 'rm -f x');
    expect(await ending.stop()).toBe(0);
    expect((await running).error?.code).toBe('SHUTTING_DOWN');
  });
});
