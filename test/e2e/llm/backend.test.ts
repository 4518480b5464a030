import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { FakeBackend, noFakeBackend } from '../../support/llm/fake-backend.js';
import { WireClient } from '../../support/wire.js';

const MESSAGES = [{ role: 'user' as const, content: 'hello' }];
const ANSWER = 'FAKE-ANSWER-42';

if (noFakeBackend !== undefined) console.warn(`Skipped, ${noFakeBackend}.`);

describe.skipIf(noFakeBackend !== undefined)('the backend of another hand', () => {
  let backend: FakeBackend;
  let daemon: TestDaemon;
  let client: WireClient;

  const start = (reviewer: Record<string, unknown> = {}, mode = 'off') =>
    TestDaemon.startCold({
      settings: {
        confirmation: { mode, checkpoint: false, reviewer: { timeout: 2, cache: 0.001, ...reviewer } },
        llm: {
          openai: { base_url: `${backend.url}/v1`, api_key: 'k', max_retries: 0 },
          ollama: { base_url: backend.url, max_retries: 0 },
        },
      },
    });

  beforeAll(async () => {
    backend = await FakeBackend.start();
    daemon = await start();
    client = await WireClient.connect(daemon.url);
  });

  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await daemon[Symbol.asyncDispose]();
    await backend[Symbol.asyncDispose]();
  });

  const outcomes: readonly (readonly [string, string, string])[] = [
    ['ok', ANSWER, ANSWER],
    ['multi', 'Last paragraph', 'Last paragraph'],
    // Nobody offers it a tool.
    ['tool', ANSWER, ANSWER],
    ['empty', 'LLM_EMPTY', 'LLM_EMPTY'],
    ['error-500', 'LLM_FAILED', 'LLM_FAILED'],
    ['error-401', 'LLM_AUTH', 'LLM_AUTH'],
    ['error-429', 'LLM_RATE_LIMITED', 'LLM_RATE_LIMITED'],
    ['hang', 'LLM_TIMEOUT', 'LLM_TIMEOUT'],
    ['hangmid', ANSWER, 'LLM_TIMEOUT'],
    // What has been sent before need not arrive.
    ['drop', ANSWER, 'LLM_FAILED|LLM_UNAVAILABLE'],
    ['garbage', 'LLM_FAILED', 'LLM_FAILED'],
  ];

  it.each(outcomes)('%s: a call gives %s, a stream %s', async (mode, ofCall, ofStream) => {
    for (const [request, expected] of [
      ['llm_call', ofCall],
      ['llm_stream', ofStream],
    ] as const) {
      const asked = { provider: 'openai' as const, model: `fake-${mode}`, messages: MESSAGES, timeout: 1 };
      const { content, error } = await client.request(request, asked);
      expect(error?.code ?? content, request).toMatch(new RegExp(expected));
    }
  });

  it.each([
    ['openai', 'ok'],
    ['ollama', 'error-500'],
    ['openai', 'hang'],
    ['ollama', 'drop'],
    ['openai', 'tool'],
    ['ollama', 'empty'],
    ['openai', 'multi'],
    ['ollama', 'garbage'],
  ])('asked by %s, %s is no yes to a command', async (provider, mode) => {
    await using judged = await start({ provider, model: `fake-${mode}`, base_url: `${backend.url}/v1` }, 'llm');
    await using their = await WireClient.connect(judged.url);
    const { error } = await their.run('rm -f none');
    expect(error).toMatchObject({ code: 'COMMAND_DENIED', details: { outcome: 'rejected' } });
  });
});
