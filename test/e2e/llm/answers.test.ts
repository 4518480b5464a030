import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { breakOff, NO_COMPLETIONS, NO_STREAMS, plainStream, silence } from '../../support/llm/bad-answers.js';
import { TestDaemon } from '../../support/daemon.js';
import { FakeModel } from '../../support/llm/fake-model.js';
import { WireClient } from '../../support/wire.js';

const MESSAGES = [{ role: 'user' as const, content: 'hello' }];

let service: FakeModel;
let daemon: TestDaemon;
let client: WireClient;

beforeAll(async () => {
  service = await FakeModel.start();
  const common = { model: 'm', max_retries: 0, base_url: service.url };
  daemon = await TestDaemon.startCold({
    settings: { llm: { openai: { ...common, api_key: 'key-of-openai' }, litellm: common } },
  });
  client = await WireClient.connect(daemon.url);
});

afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await daemon[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

const ask = (request: 'llm_call' | 'llm_stream', provider: 'openai' | 'litellm' = 'openai') =>
  client.request(request, { provider, messages: MESSAGES });

describe('a service that answers with status 200 and', () => {
  it.each(NO_COMPLETIONS)('%s has not answered', async (_, answer, what) => {
    service.answer = answer;
    const { error } = await ask('llm_call');
    expect(error).toMatchObject({ code: 'LLM_FAILED', details: { provider: 'openai', status: null } });
    expect(error?.message).toMatch(
      /^openai failed: its answer is no chat completion: .*\(is llm\.openai\.base_url right\?\)$/s,
    );
    expect(error?.message).toContain(what);
  });

  it('a message without a word has given an empty answer', async () => {
    service.answer = silence;
    expect((await ask('llm_call')).error?.code).toBe('LLM_EMPTY');
  });

  it('a flood is not read to its end', async () => {
    service.answer = (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const pour = () => {
        while (!response.destroyed && response.write(' '.repeat(1024 * 1024)));
      };
      response.on('drain', pour);
      pour();
    };
    const { error } = await ask('llm_call');
    expect(error).toMatchObject({
      code: 'LLM_FAILED',
      details: { detail: expect.stringContaining('larger than') as string },
    });
  });
});

describe('a service that is to stream and sends', () => {
  it.each(NO_STREAMS)('%s has not answered', async (_, answer, what) => {
    service.answer = answer;
    const { error } = await ask('llm_stream', 'litellm');
    expect(error).toMatchObject({ code: 'LLM_FAILED', details: { provider: 'litellm' } });
    expect(error?.message).toMatch(/^litellm failed: /);
    expect(error?.message).toContain(what);
  });

  it('a piece, and breaks off, has failed', async () => {
    service.answer = breakOff;
    expect((await ask('llm_stream')).error).toMatchObject({ code: 'LLM_FAILED' });
  });

  it('no more than it has to has answered', async () => {
    service.answer = plainStream;
    expect(await ask('llm_stream')).toMatchObject({ content: 'one two', chunk_count: 2, usage: {}, model: 'm' });
  });
});

it('what a service answers is not printed by the daemon', () => {
  expect(daemon.output).not.toContain('Could not parse');
});
