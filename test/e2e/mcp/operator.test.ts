import type { ElicitResult } from '@modelcontextprotocol/client';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { ask } from '../../support/http.js';
import { MCP_WAYS, McpClient, type McpClientOptions } from '../../support/network/mcp.js';

/** How long an operator has, in seconds, where a command stays undecided: the test waits until it is over. */
const SOON_S = 1;
/** How long an operator has where a test decides. */
const AMPLE_S = 60;

/** Daemons that give operators so many seconds for a decision, with the tokens of an agent and an operator: those of all ways. */
const daemons = new Map<number, { readonly daemon: TestDaemon; readonly agent: string; readonly operator: string }>();

async function daemonGiving(expires: number) {
  const daemon = await TestDaemon.startCold({
    settings: { auth: { mode: 'token' }, confirmation: { mode: 'operator', checkpoint: false, expires } },
  });
  const [agent, operator] = [daemon.createToken('agent', 'agent'), daemon.createToken('operator', 'person')];
  const started = { daemon, agent, operator };
  daemons.set(expires, started);
  return started;
}

afterAll(async () => {
  for (const { daemon } of daemons.values()) await daemon[Symbol.asyncDispose]();
});

describe.each(MCP_WAYS)('what an operator has to confirm, over MCP by %s', (_, way) => {
  let daemon: TestDaemon;
  let agent: string;
  let operator: string;

  /** Runs the tests of a suite against a daemon that gives operators so many seconds for a decision. */
  function useOwn(expires: number): void {
    beforeAll(async () => {
      ({ daemon, agent, operator } = daemons.get(expires) ?? (await daemonGiving(expires)));
    });
  }

  /** A client whose person answers like this; what the person is asked goes into `asked`. */
  const connect = (answer: ElicitResult, asked: string[] = [], options: Partial<McpClientOptions> = {}) =>
    McpClient.connect(daemon.url, way, {
      token: agent,
      operatorToken: operator,
      capabilities: { elicitation: {} },
      prepare: (each) => {
        each.setRequestHandler('elicitation/create', ({ params }) => {
          asked.push(params.message);
          return answer;
        });
      },
      ...options,
    });
  const approve: ElicitResult = { action: 'accept', content: { decision: 'approve', reason: 'fine by me' } };
  const remove = (name: string) => ({ command: `touch ${name}; rm ${name}; echo gone` });

  describe('and is decided', () => {
    useOwn(AMPLE_S);

    it('is asked at the client; what is approved runs', async () => {
      const asked: string[] = [];
      await using client = await connect(approve, asked);
      const { answer } = await client.call('run_command', { ...remove('a'), env: { V: 'x\u202e' } });
      expect(answer).toEqual({ exit_code: 0, stdout: 'gone\n', stderr: '' });
      expect(asked).toHaveLength(1);
      expect(asked[0]).toContain('touch a; rm a; echo gone');
      expect(asked[0]).toContain(`Directory: ${daemon.workspace}`);
      expect(asked[0]).toContain('x\\u{202e}');
      const { session_id } = (await client.call('open_session')).answer;
      expect((await client.call('execute_command', { session_id, ...remove('b') })).answer).toMatchObject({
        stdout: 'gone\n',
      });
      expect((await client.call('run_command', { command: 'echo unasked' })).answer).toMatchObject({
        stdout: 'unasked\n',
      });
      expect(asked).toHaveLength(2);
      await client.call('close_session', { session_id });
    });

    it.each<[string, ElicitResult]>([
      ['rejected', { action: 'accept', content: { decision: 'reject' } }],
      ['declined', { action: 'decline' }],
    ])('what is %s does not run', async (__, answer) => {
      await using client = await connect(answer);
      const refused = await client.call('run_command', { command: 'touch ran; rm other' });
      expect(refused.answer).toMatchObject({ status: 'denied' });
      expect(existsSync(join(daemon.workspace, 'ran'))).toBe(false);
    });
  });

  describe('and stays undecided', () => {
    useOwn(SOON_S);

    it.each<[string, ElicitResult]>([
      ['a form that is closed', { action: 'cancel' }],
      [
        'a form that is accepted without a decision, as by a client that accepts all',
        { action: 'accept', content: {} },
      ],
    ])('%s decides nothing: the command waits until its time is over', async (__, answer) => {
      await using client = await connect(answer);
      const { isError, answer: late } = await client.call('run_command', { command: 'touch ran; rm other' });
      expect({ isError, late }).toMatchObject({ isError: true, late: { error: { code: 'COMMAND_DENIED' } } });
      expect(existsSync(join(daemon.workspace, 'ran'))).toBe(false);
    });

    it('nobody is asked without the token of an operator', async () => {
      const asked: string[] = [];
      await using client = await connect(approve, asked, { operatorToken: undefined });
      expect(await client.call('run_command', remove('c'))).toMatchObject({ isError: true });
      expect(asked).toEqual([]);
    });

    it('the decision is the operator’s: an agent’s token decides nothing, nor does the client’s own', async () => {
      const other = daemon.createToken('agent', `other-${way.over}-${way.mode}`);
      for (const operatorToken of [other, agent]) {
        const attempt = async () => {
          await using client = await connect(approve, [], { operatorToken });
          return await client.call('run_command', { command: 'touch ran; rm other' });
        };
        // Over HTTP it is refused when the client connects.
        expect(await attempt().catch(() => ({ isError: true }))).toMatchObject({ isError: true });
      }
      expect(existsSync(join(daemon.workspace, 'ran'))).toBe(false);
    });
  });
});

it('over HTTP, a wrong operator’s token is refused', async () => {
  await using daemon = await TestDaemon.startCold();
  const answer = await ask(new URL('/mcp', daemon.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-shell-adapter-operator-token': 'nonsense' },
    body: '{}',
  });
  expect(answer).toMatchObject({ status: 401 });
});
