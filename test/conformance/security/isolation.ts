import { describe, expect, test } from 'vitest';

import type { RequestName } from '../../../src/core/protocol/requests.js';
import type { SecurityTarget } from './target.js';

/** Every request that names something. */
const requestsAbout = (session: string, command: string): readonly (readonly [RequestName, object])[] => [
  ['execute_command', { command: 'true', session_id: session }],
  ['check_command', { command: 'ls', session_id: session }],
  ['get_session', { session_id: session }],
  ['attach_session', { session_id: session, from_seq: 0 }],
  ['resize_terminal', { session_id: session, cols: 80, rows: 24 }],
  ['send_input', { session_id: session, data: 'x' }],
  ['send_input', { command_id: command, data: 'x' }],
  ['signal_command', { session_id: session, signal: 'SIGINT' }],
  ['signal_command', { command_id: command, signal: 'SIGKILL' }],
  ['wait_command', { command_id: command, timeout_ms: 0 }],
  ['read_output', { command_id: command }],
  ['reset_session', { session_id: session }],
  ['close_session', { session_id: session }],
];

const MISSING = { session: `session_${'A'.repeat(22)}`, command: `command_${'A'.repeat(22)}` };

/** What one token has is not there for another one. */
export function isolation(target: () => SecurityTarget): void {
  describe('isolation of tokens', () => {
    test('what belongs to another token answers exactly as what is not there', async (context) => {
      target().needs(context, 'agent', 'other_agent');
      const [owner, other] = [await target().connect('agent'), await target().connect('other_agent')];
      const session = await owner.openSession();
      const { command_id: command } = await owner.run('sleep 60', session, { background: true });
      const alike = (answer: unknown) =>
        [session, command, ...Object.values(MISSING)].reduce(
          (text, id) => text.replaceAll(id, 'ID'),
          JSON.stringify(answer),
        );
      const missing = requestsAbout(MISSING.session, MISSING.command);
      for (const [index, [name, payload]] of requestsAbout(session, command).entries()) {
        const foreign = (await other.socket.emitWithAck(name, payload)) as unknown;
        const none = (await other.socket.emitWithAck(name, missing[index]![1])) as unknown;
        expect(alike(foreign), name).toBe(alike(none));
        expect(alike(foreign), name).toContain('NOT_FOUND');
      }
      expect(await owner.request('get_session', { session_id: session })).toMatchObject({ state: 'busy' });
      await owner.request('close_session', { session_id: session });
    });

    test('lists and events name nothing of another token', async (context) => {
      target().needs(context, 'agent', 'other_agent');
      const [owner, other] = [await target().connect('agent'), await target().connect('other_agent')];
      const session = await owner.openSession();
      await owner.run('echo words-of-one', session, { stream: true });
      const { sessions } = await other.request('list_sessions', {});
      const seen = JSON.stringify([sessions, await other.request('list_confirmations', {}), other.events]);
      expect(seen).not.toContain(session);
      expect(seen).not.toContain('words-of-one');
      await owner.request('close_session', { session_id: session });
    });

    test('the same command_id of two tokens is two commands', async (context) => {
      target().needs(context, 'agent', 'other_agent');
      const [owner, other] = [await target().connect('agent'), await target().connect('other_agent')];
      const command_id = `shared-${process.pid}`;
      expect((await owner.run('echo one', undefined, { command_id })).stdout).toBe('one\n');
      expect((await other.run('echo two', undefined, { command_id })).stdout).toBe('two\n');
    });

    test('texts of commands of a session cannot be read by asking a shell for them', async (context) => {
      target().needs(context, 'agent', 'other_agent');
      const [owner, other] = [await target().connect('agent'), await target().connect('other_agent')];
      const session = await owner.openSession();
      await owner.run(': marker-of-a-secret', session);
      const uid = (await other.run('id -u')).stdout.trim();
      const verdict = await other.request('check_command', {
        command: `grep -rh marker /dev/shm/shell-adapter-${uid}`,
      });
      const found =
        verdict.action === 'allow'
          ? (await other.run(`grep -rhs marker-of-a-secre[t] /dev/shm/shell-adapter-${uid}`)).stdout
          : '';
      expect(found).toBe('');
      await owner.request('close_session', { session_id: session });
    });
  });
}
