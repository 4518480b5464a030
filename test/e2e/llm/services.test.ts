import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { LlmService, SERVICE_ANSWER } from '../../support/llm/llm-service.js';
import { TestDaemon } from '../../support/daemon.js';
import { WireClient } from '../../support/wire.js';
import { behaving } from './support.js';
import { eventually } from '../../support/measure.js';

const MESSAGES = [
  { role: 'system' as const, content: 'Be brief.' },
  { role: 'user' as const, content: 'hello' },
];
const USAGE = {
  prompt_tokens: 111,
  completion_tokens: 22,
  total_tokens: 133,
  cached_tokens: 33,
  reasoning_tokens: 5,
};
const SERVICES = ['openai', 'azure', 'ollama', 'litellm'] as const;

let service: LlmService;
let daemon: TestDaemon;
let client: WireClient;

beforeAll(async () => {
  service = await LlmService.start();
  const common = { model: 'fake-ok', max_retries: 0 };
  daemon = await TestDaemon.startCold({
    settings: {
      llm: {
        shell_providers: { upper: behaving('upper') },
        fallback: ['upper'],
        openai: { ...common, base_url: `${service.url}/v1`, api_key: 'key-of-openai' },
        azure: { ...common, base_url: service.url, api_key: 'key-of-azure' },
        ollama: { ...common, base_url: service.url },
        litellm: { ...common, base_url: `${service.url}/v1`, api_key: 'key-of-litellm' },
      },
    },
  });
  client = await WireClient.connect(daemon.url);
});

afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

describe.each(SERVICES)('%s', (provider) => {
  it('answers a call', async () => {
    const answer = await client.request('llm_call', { provider, messages: MESSAGES });
    expect(answer).toMatchObject({
      content: SERVICE_ANSWER,
      usage: USAGE,
      provider,
      shell_provider: null,
      model: 'fake-ok',
      session: null,
    });
    const seen = service.seen.at(-1);
    expect(JSON.parse(seen?.text ?? '{}')).toMatchObject({ model: 'fake-ok', messages: MESSAGES });
    expect(seen?.key).toContain(provider === 'ollama' ? 'none' : `key-of-${provider}`);
    expect(seen?.path).toMatch(provider === 'azure' ? /deployments\/fake-ok\/chat.*api-version=/ : /^\/v1\/chat/);
  });

  it('streams', async () => {
    const id = `stream-${provider}`;
    const answer = await client.request('llm_stream', { provider, messages: MESSAGES, call_id: id });
    expect(answer).toMatchObject({ content: SERVICE_ANSWER, usage: USAGE, chunk_count: 4 });
    const chunks = client.all('llm_chunk').filter(({ call_id: callId }) => callId === id);
    expect(chunks.map(({ content }) => content).join('')).toBe(SERVICE_ANSWER);
  });

  it.each([
    ['fake-error-401', 'LLM_AUTH'],
    ['fake-error-404', 'LLM_MODEL_NOT_FOUND'],
    ['fake-error-413', 'LLM_PROMPT_TOO_LARGE'],
    ['fake-error-429', 'LLM_RATE_LIMITED'],
    ['fake-error-500', 'LLM_FAILED'],
    ['fake-empty', 'LLM_EMPTY'],
  ])('fails with %s: %s', async (model, code) => {
    for (const request of ['llm_call', 'llm_stream'] as const) {
      const { error } = await client.request(request, { provider, model, messages: MESSAGES });
      expect(error, request).toMatchObject({ code, details: { provider } });
    }
  });

  it.each(['fake-hang', 'fake-hangmid'])('runs into its time-out with %s, and hangs up', async (model) => {
    const { error } = await client.request('llm_stream', { provider, model, messages: MESSAGES, timeout_ms: 300 });
    expect(error?.code).toBe('LLM_TIMEOUT');
    await eventually(() => {
      expect(service.seen.at(-1)?.hasGone()).toBe(true);
    });
  });

  it('is hung up on when the call is cancelled', async () => {
    const id = `cancel-${provider}`;
    const before = service.seen.length;
    const answering = client.request('llm_call', { provider, model: 'fake-hang', messages: MESSAGES, call_id: id });
    await eventually(() => {
      expect(service.seen.length).toBe(before + 1);
    });
    await client.request('cancel_llm', { call_id: id });
    expect((await answering).error?.code).toBe('LLM_CANCELLED');
    await eventually(() => {
      expect(service.seen.at(-1)?.hasGone()).toBe(true);
    });
  });
});

describe('auto', () => {
  it('asks the services that are configured, in their order, before tools', async () => {
    const { auto } = await client.request('list_llm_providers', {});
    expect(auto).toEqual(['ollama', 'azure', 'openai', 'litellm', 'upper']);
    expect((await client.request('llm_call', { messages: MESSAGES })).provider).toBe('ollama');
  });

  it('goes on to the next when one fails, and says who was tried', async () => {
    const { error } = await client.request('llm_call', { model: 'fake-error-500', messages: MESSAGES });
    const tried = error?.details?.['tried'] as { readonly name: string; readonly code: string }[];
    expect(tried.map(({ name, code }) => `${name} ${code}`)).toEqual([
      ...['ollama', 'azure', 'openai', 'litellm'].map((name) => `${name} LLM_FAILED`),
      // It takes no model.
      'upper LLM_MODEL_NOT_FOUND',
    ]);
  });

  it('takes the variables of the services, and a tool when none of them answers', async () => {
    const closed = await LlmService.start();
    const { url } = closed;
    await closed[Symbol.asyncDispose]();
    const shells = { shell_providers: { upper: behaving('upper') }, fallback: ['upper'] };
    const settings = { llm: { ...shells, ollama: { max_retries: 0 } } };
    const env = { OLLAMA_API_BASE: url, OLLAMA_MODEL: 'm', OPENAI_API_KEY: 'k' };
    await using other = await TestDaemon.startCold({ settings, env });
    await using their = await WireClient.connect(other.url);
    expect((await their.request('list_llm_providers', {})).auto).toEqual(['ollama', 'openai', 'upper']);
    const unreached = await their.request('llm_call', { provider: 'ollama', messages: MESSAGES });
    expect(unreached.error).toMatchObject({
      code: 'LLM_UNAVAILABLE',
      message: expect.stringContaining('ECONNREFUSED') as string,
    });
    expect(await their.request('llm_call', { messages: MESSAGES })).toMatchObject({ shell_provider: 'upper' });
  });
});
