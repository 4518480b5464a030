import { describe, expect, it } from 'vitest';

import { type Choice, nameOf, resolveProviders } from '../../../../src/core/llm/resolution.js';

const choice = (changes: Partial<Choice> = {}): Choice => ({
  provider: 'auto',
  fallback: ['claude', 'gemini'],
  shellProviders: ['claude', 'gemini', 'mine'],
  configured: new Set(),
  ...changes,
});

const everything = new Set(['litellm', 'openai', 'azure', 'ollama'] as const);

describe('resolveProviders', () => {
  it.each([
    ['a tool by its name', { shell_provider: 'mine' }, {}, ['mine']],
    ['a tool by its name, with its provider', { provider: 'shell', shell_provider: 'mine' }, {}, ['mine']],
    ['a tool by its name, with auto', { provider: 'auto', shell_provider: 'mine' }, {}, ['mine']],
    ['a named tool comes before the configured provider', { shell_provider: 'mine' }, { provider: 'openai' }, ['mine']],
    ['any tool', { provider: 'shell' }, { configured: everything }, ['claude', 'gemini']],
    ['a service by its name', { provider: 'litellm' }, { configured: everything }, ['litellm']],
    ['a service that nobody has configured', { provider: 'openai' }, {}, ['openai']],
    ['nothing: the configured provider', {}, { provider: 'azure' }, ['azure']],
    ['nothing, and only tools', {}, {}, ['claude', 'gemini']],
    ['auto goes before the configured provider', { provider: 'auto' }, { provider: 'azure' }, ['claude', 'gemini']],
    [
      'nothing: services in their order, then tools',
      {},
      { configured: everything },
      ['ollama', 'azure', 'openai', 'litellm', 'claude', 'gemini'],
    ],
    ['nothing, and there is nobody', {}, { fallback: [] }, []],
  ] as const)('%s', (_title, wish, changes, names) => {
    expect(resolveProviders(wish, choice(changes)).map(nameOf)).toEqual(names);
  });

  it('refuses a tool that is none, and says which there are', () => {
    expect(() => resolveProviders({ shell_provider: 'claud' }, choice())).toThrow(
      expect.objectContaining({
        code: 'PROVIDER_NOT_FOUND',
        message: expect.stringContaining('claude, gemini, mine') as string,
      }) as Error,
    );
  });

  it('refuses a tool together with a service', () => {
    expect(() => resolveProviders({ provider: 'openai', shell_provider: 'mine' }, choice())).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST' }) as Error,
    );
  });
});
