import { expect, it } from 'vitest';
import { z } from 'zod';

import { defineRequests } from '../../../../src/core/protocol/define-requests.js';

it('makes each schema when it is first used, once', () => {
  const made: string[] = [];
  const maker = (name: string) => () => {
    made.push(name);
    return z.object({});
  };
  const facts = { role: 'agent', recorded: 'each', route: 'here', repeat: 'never', example: {} } as const;
  const { first } = defineRequests({
    first: { summary: 'Does it.', ...facts, input: maker('input'), output: maker('output') },
  });
  expect([first.summary, made]).toEqual(['Does it.', []]);
  expect(first.output).toBe(first.output);
  expect(made).toEqual(['output']);
  expect(Object.keys(first)).toEqual(['summary', ...Object.keys(facts), 'input', 'output']);
  expect(first.input).toBe(first.input);
  expect(made).toEqual(['output', 'input']);
});
