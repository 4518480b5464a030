import { setImmediate } from 'node:timers/promises';

import { afterEach, describe, expect, it, vi } from 'vitest';

import type { LlmSettings } from '../../../../src/core/llm/settings.js';
import { fetchFor, HttpProviders, NO_TIMEOUTS } from '../../../../src/services/llm/http-providers.js';
import { FakeModel } from '../../../support/llm/fake-model.js';

const event = (fields: object) => `data: ${JSON.stringify({ model: 'm', choices: [], ...fields })}\n\n`;
const choice = (content: string, finish_reason: string | null) => ({
  choices: [{ index: 0, delta: { content }, finish_reason }],
});

afterEach(() => {
  vi.useRealTimers();
});

describe('a service that keeps its stream open after the answer', () => {
  it('has answered, with the usage that it told', async () => {
    await using model = await FakeModel.start();
    model.answer = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const usage = { prompt_tokens: 1, completion_tokens: 2 };
      response.write([choice('Hello', null), choice('', 'stop'), { usage }].map(event).join(''));
    };
    const service = { baseUrl: model.url, model: 'm', maxRetries: 0 };
    const providers = new HttpProviders(
      () => ({ ollama: service, azure: service, openai: service, litellm: service }) as unknown as LlmSettings,
    );
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const texts: string[] = [];
    const asking = providers.ask(
      'openai',
      {
        messages: [{ role: 'user', content: 'hello' }],
        model: undefined,
        cwd: '/',
        timeoutMs: 10_000,
        isStreamed: true,
        signal: new AbortController().signal,
      },
      (told) => {
        if (told.type === 'text') texts.push(told.text);
      },
    );
    const over = new AbortController();
    const end = () => {
      over.abort();
    };
    asking.then(end, end);
    while (texts.length === 0 && !over.signal.aborted) await setImmediate();
    // From now on time passes in each turn in which nothing else happens.
    while (!over.signal.aborted) {
      await setImmediate();
      vi.advanceTimersByTime(1000);
    }
    expect(await asking).toMatchObject({ content: 'Hello', usage: { total_tokens: 3 } });
    expect(texts).toEqual(['Hello']);
  });
});

describe('a service that is slow to answer', () => {
  it('is waited for as long as the call says: its connection has no time-out of its own', () => {
    expect(NO_TIMEOUTS).toEqual({ headersTimeout: 0, bodyTimeout: 0 });
  });

  it('is asked over a connection with these options, and not with those of Node.js', async () => {
    await using model = await FakeModel.start();
    model.answer = (response) => {
      response.end('more than that');
    };
    const narrow = await fetchFor(1000, { ...NO_TIMEOUTS, maxResponseSize: 5 });
    const answer = await narrow(model.url, { method: 'POST', body: '{}' });
    await expect(answer.text()).rejects.toMatchObject({ cause: { code: 'UND_ERR_RES_EXCEEDED_MAX_SIZE' } });
  });
});
