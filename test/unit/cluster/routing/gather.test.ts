import { describe, expect, it } from 'vitest';

import { mergeAnswers, type NodeAnswer } from '../../../../src/cluster/gather.js';

const answer = (node: string, reply: object): NodeAnswer => ({ node, reply: reply as NodeAnswer['reply'] });

describe('the answers of several nodes', () => {
  it('are one list, with the nodes that have not answered', () => {
    const answers = [answer('a', { sessions: [1] }), answer('b', { sessions: [2, 3] })];
    expect(mergeAnswers('list_sessions', {}, answers, [{ node: 'c', code: 'NODE_LOST' }])).toEqual({
      sessions: [1, 2, 3],
      unreachable: [{ node: 'c', code: 'NODE_LOST' }],
    });
    expect(mergeAnswers('list_sessions', {}, answers, [])).not.toHaveProperty('unreachable');
  });

  it('are sorted by time where a list is', () => {
    const answers = [
      answer('a', { calls: [{ started_at: '2026-01-03' }, { started_at: '2026-01-01' }] }),
      answer('b', { calls: [{ started_at: '2026-01-02' }] }),
    ];
    const { calls } = mergeAnswers('list_llm_calls', {}, answers, []) as unknown as {
      calls: { started_at: string }[];
    };
    expect(calls.map(({ started_at: at }) => at)).toEqual(['2026-01-03', '2026-01-02', '2026-01-01']);
  });

  it('are an error when there is no other answer', () => {
    const error = { code: 'FORBIDDEN', message: 'no' };
    expect(mergeAnswers('list_ports', {}, [answer('a', { error })], [])).toEqual({ error });
    expect(mergeAnswers('list_ports', {}, [answer('a', { error }), answer('b', { ports: [] })], [])).toEqual({
      ports: [],
    });
  });
});
