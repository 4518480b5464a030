import { describe, expect, it } from 'vitest';

import { type LlmMessage, taskPrompt } from '../../../../src/core/llm/messages.js';

const say = (...entries: readonly (readonly [LlmMessage['role'], string])[]): LlmMessage[] =>
  entries.map(([role, content]) => ({ role, content }));

describe('the prompt of a run in a repository', () => {
  it.each([
    ['a question', undefined, say(['user', 'a']), 'a'],
    ['several', undefined, say(['user', 'a'], ['user', 'b']), 'a\n\nb'],
    ['system messages go first', undefined, say(['user', 'a'], ['system', 's']), 's\n\na'],
    [
      'instructions go before all',
      'Be brief.\n',
      say(['user', 'a'], ['system', 's']),
      'Be brief.\n\n--- USER TASK ---\ns\n\na',
    ],
    ['empty instructions', '', say(['user', 'a']), '\n\n--- USER TASK ---\na'],
    [
      'a conversation is labelled',
      undefined,
      say(['system', 's'], ['user', 'a'], ['assistant', 'b'], ['user', 'c']),
      's\n\nUSER: a\n\nASSISTANT: b\n\nUSER: c',
    ],
  ])('%s', (_, instructions, messages, prompt) => {
    expect(taskPrompt(instructions, messages)).toBe(prompt);
  });
});
