import { describe, expect, it } from 'vitest';

import { composePrompt, type LlmMessage } from '../../../../src/core/llm/messages.js';

const system = (content: string): LlmMessage => ({ role: 'system', content });
const user = (content: string): LlmMessage => ({ role: 'user', content });
const assistant = (content: string): LlmMessage => ({ role: 'assistant', content });

describe('composePrompt', () => {
  it.each([
    ['plain', [user('Hi')], 'Hi'],
    ['plain', [system('Be terse'), user('Hi')], 'System: Be terse\n\nHi'],
    ['plain', [user('1+1?'), assistant('2'), user('And 2+2?')], '1+1?\n\nAssistant: 2\n\nAnd 2+2?'],
    ['plain', [user('Hi'), system('Later')], 'Hi\n\nSystem: Later'],
    ['labelled', [user('Hi')], 'Hi'],
    ['labelled', [system('Be terse'), user('Hi')], 'SYSTEM: Be terse\n\nUSER: Hi'],
    ['labelled', [user('1+1?'), assistant('2'), user('And?')], 'USER: 1+1?\n\nASSISTANT: 2\n\nUSER: And?'],
    ['labelled', [user('Hi'), system('Later')], 'SYSTEM: Later\n\nUSER: Hi'],
    ['labelled', [assistant('Hi')], 'ASSISTANT: Hi'],
  ] as const)('%s, without a system prompt of its own: %j', (style, messages, prompt) => {
    expect(composePrompt(messages, style, false)).toEqual({ prompt, system: undefined });
  });

  it.each([
    ['plain', [system('A'), user('Hi'), system('B')], 'Hi', 'A\n\nB'],
    ['labelled', [system('A'), user('Hi')], 'Hi', 'A'],
    ['labelled', [system('A'), user('Hi'), assistant('Yes')], 'USER: Hi\n\nASSISTANT: Yes', 'A'],
    ['labelled', [user('Hi')], 'Hi', undefined],
  ] as const)('%s, with a system prompt of its own: %j', (style, messages, prompt, aside) => {
    expect(composePrompt(messages, style, true)).toEqual({ prompt, system: aside });
  });
});
