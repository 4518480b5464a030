import { describe, expect, it } from 'vitest';

import { eventually } from '../../support/measure.js';
import { WireClient } from '../../support/wire.js';
import { canRunRedis } from '../harness/redis.js';
import { type StartedNodes, useNodes } from '../harness/use-nodes.js';

describe.skipIf(!canRunRedis)('an operator at one of equal nodes', () => {
  let started: StartedNodes;
  useNodes((one) => (started = one), {
    confirmation: { mode: 'operator', checkpoint: false, classes: { destructive: 'confirm' } },
  });

  it.each([
    ['approve', 0],
    ['reject', 1],
  ] as const)('can %s once what clients of each node ask for', async (decision, i) => {
    const [operator] = await started.connect('operator');
    const agents = await started.connect();
    const id = await agents[i].openSession();
    for (const agent of agents) {
      await agent.run(`mkdir -p ${decision}`, id);
      const running = agent.run(`rm -rf ${decision}`, id);
      const isOpen = () => operator.request('list_confirmations').then(({ confirmations }) => confirmations);
      const [asked] = await eventually(async () => {
        const open = await isOpen();
        expect(open).toHaveLength(1);
        return open;
      });
      const { confirmation_id, command_sha256 } = asked!;
      await operator.event('confirmation_required', (event) => event.confirmation_id === confirmation_id);
      const confirmed = await operator.request('confirm_command', { confirmation_id, command_sha256, decision });
      expect(confirmed.error).toBeUndefined();
      const answer = await running;
      expect(answer.error?.code ?? answer.status).toBe(decision === 'approve' ? 'completed' : 'COMMAND_DENIED');
      await operator.event('confirmation_resolved', (event) => event.confirmation_id === confirmation_id);
      for (const name of ['confirmation_required', 'confirmation_resolved'] as const)
        expect(operator.all(name).filter((event) => event.confirmation_id === confirmation_id)).toHaveLength(1);
    }
    await Promise.all([operator, ...agents].map((client) => client[Symbol.asyncDispose]()));
  });

  it('does not decide for itself elsewhere, nor does a program without a token', async () => {
    const operators = await started.connect('operator');
    await using local = await WireClient.connect(started.nodes[1].url);
    const id = await operators[0].openSession();
    const { confirmation_id = '', command_sha256 } = await operators[0].run('rm -rf own', id, { background: true });
    const decision = { confirmation_id, command_sha256, decision: 'approve' } as const;
    for (const own of operators) expect((await own.request('confirm_command', decision)).error?.code).toBe('FORBIDDEN');
    expect((await local.request('confirm_command', decision)).error?.code).toMatch(/FORBIDDEN|CONFIRMATION_NOT_FOUND/);
    await Promise.all(operators.map((client) => client[Symbol.asyncDispose]()));
  });

  it('subscribes to all nodes: what is here comes complete, and erases nothing of the others', async () => {
    const [operator] = await started.connect('operator');
    const agents = await started.connect();
    const ids = await Promise.all(
      agents.map((agent, j) => agent.openSession({ placement: { node: `node-${j + 1}` } })),
    );
    await operator.request('subscribe', { topics: ['sessions', 'commands', 'llm', 'confirmations'], interval_ms: 250 });
    const seen = () => {
      const sessions = new Set<string>();
      for (const event of operator.all('sessions_changed')) {
        if (event.complete === true) sessions.clear();
        for (const { session_id } of event.sessions) sessions.add(session_id);
        for (const { session_id } of event.closed) sessions.delete(session_id);
      }
      return sessions;
    };
    await eventually(() => {
      expect([...seen()].sort()).toEqual(expect.arrayContaining([...ids].sort()));
    });
    const [first] = operator.all('sessions_changed');
    expect(first).toMatchObject({ complete: true });
    expect(first!.sessions.map(({ session_id }) => session_id)).toContain(ids[0]);
    expect(first!.sessions.map(({ session_id }) => session_id)).not.toContain(ids[1]);
    const more = await agents[2].openSession({ placement: { node: 'node-3' } });
    await eventually(() => {
      expect(seen()).toContain(more);
    });
    await agents[0].request('close_session', { session_id: more });
    await eventually(() => {
      expect(seen()).not.toContain(more);
    });
    // Others are begun again with this node when one is lost.
    started.nodes[2].signal('SIGKILL');
    await eventually(() => {
      expect([...seen()].filter((id) => ids.includes(id)).sort()).toEqual(ids.slice(0, 2).sort());
    });
    expect(operator.all('sessions_changed').filter(({ complete }) => complete === true).length).toBeGreaterThan(1);
    const last = await agents[1].openSession();
    await eventually(() => {
      expect(seen()).toContain(last);
    });
    await Promise.all([operator, ...agents].map((client) => client[Symbol.asyncDispose]()));
  });
});
