import { describe, expect, test, type TestContext } from 'vitest';

import type { WireAnswer, WireClient } from '../../support/wire.js';
import { newName, type SecurityTarget } from './target.js';

type Stopped = WireAnswer<'execute_command'>;

/** Asks for a command that has to be confirmed and has no effect: it removes what is not there. */
async function stop(client: WireClient, context: TestContext): Promise<Stopped> {
  const stopped = await client.run(`rm -f /srv/${newName()}; echo ran`);
  if (stopped.status !== 'confirmation_required')
    context.skip('this daemon runs, or denies, what deletes outside of the workspace');
  return stopped;
}

const decide = (client: WireClient, { confirmation_id, command_sha256 }: Stopped, changes: object = {}) =>
  client.request('confirm_command', {
    confirmation_id: confirmation_id ?? '',
    decision: 'approve',
    command_sha256,
    justification: 'a test of what has no effect',
    ...changes,
  });

const whyNotSelf = 'this daemon has others confirm than the client that asks';

/** A confirmation is for one command, of one client, once. */
export function confirmation(target: () => SecurityTarget): void {
  describe('confirmation', () => {
    test('runs nothing without a decision, and what was approved once', async (context) => {
      const client = await target().connect('agent');
      const stopped = await stop(client, context);
      expect(stopped.stdout).toBe('');
      if (stopped.requires !== 'self') context.skip(whyNotSelf);
      const answers = await Promise.all(Array.from({ length: 8 }, () => decide(client, stopped)));
      expect(answers.filter(({ stdout }) => stdout === 'ran\n')).toHaveLength(1);
      expect((await decide(client, stopped)).error?.code).toBe('CONFIRMATION_NOT_FOUND');
    });

    test('is refused for another text, without a reason, and by another token', async (context) => {
      target().needs(context, 'agent', 'other_agent');
      const [client, other] = [await target().connect('agent'), await target().connect('other_agent')];
      const stopped = await stop(client, context);
      expect((await decide(other, stopped)).error?.code).toBe('CONFIRMATION_NOT_FOUND');
      if (stopped.requires !== 'self') context.skip(whyNotSelf);
      expect((await decide(client, stopped, { command_sha256: '0'.repeat(64) })).error?.code).toBe(
        'CONFIRMATION_MISMATCH',
      );
      expect((await decide(client, stopped, { justification: '' })).error?.code).toBe('INVALID_REQUEST');
      expect(await decide(client, stopped, { decision: 'reject' })).toMatchObject({ status: 'denied' });
    });

    test('is asked about every way to run the same: arguments, input, variables, another directory', async (context) => {
      const client = await target().connect('agent');
      await stop(client, context);
      const path = `/srv/${newName()}`;
      const answers = await Promise.all([
        client.run('rm', undefined, { args: ['-f', path] }),
        client.run('sh', undefined, { stdin: `rm -f ${path}` }),
        client.run('sh', undefined, { args: ['-c', `rm -f ${path}`] }),
        client.run('true', undefined, { env: { LD_PRELOAD: './x.so' } }),
        client.run(`rm -f ${path}`, undefined, { background: true }),
        client.run(`rm -f ${path}`, undefined, { tty: true }),
      ]);
      expect(answers.map(({ status, error }) => error?.code ?? status)).toEqual(
        answers.map(() => expect.stringMatching(/^(?:confirmation_required|COMMAND_DENIED)$/) as string),
      );
    });

    test('variables that name programs do not come in with a session', async (context) => {
      const client = await target().connect('agent');
      await stop(client, context);
      for (const name of ['BASH_ENV', 'LD_PRELOAD', 'GIT_SSH_COMMAND', 'XDG_CONFIG_HOME']) {
        const { error } = await client.request('open_session', { env: { [name]: './x' } });
        expect(error?.code, name).toBe('COMMAND_DENIED');
      }
    });
  });
}
