import { expect, it, vi } from 'vitest';

import { LastingProblem, type Log } from '../../../src/core/log.js';

const TEXTS = { level: 'warn', begun: 'it fails', over: 'it works again' } as const;

it('a lasting problem is told when it begins, for each reason, and when it is over', () => {
  const lines: unknown[] = [];
  const write =
    (level: string) =>
    (message: string, facts?: object): number =>
      lines.push([level, message, facts]);
  const log: Log = { debug: vi.fn(), info: write('info'), warn: write('warn'), error: vi.fn() };
  const problem = new LastingProblem(log, TEXTS);
  problem.succeeded();
  for (const reason of ['EMFILE', 'EMFILE', 'ENOMEM', 'ENOMEM']) problem.failed(new Error(reason), { topic: 'host' });
  problem.succeeded({ topic: 'host' });
  problem.succeeded();
  problem.failed(new Error('ENOMEM'));
  expect(lines).toEqual([
    ['warn', 'it fails', { topic: 'host', error: 'Error: EMFILE' }],
    ['warn', 'it fails', { topic: 'host', error: 'Error: ENOMEM' }],
    ['info', 'it works again', { topic: 'host', failed_attempts: 4 }],
    ['warn', 'it fails', { error: 'Error: ENOMEM' }],
  ]);
});
