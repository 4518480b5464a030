import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { NO_COMPLETIONS, silence } from '../../support/llm/bad-answers.js';
import { type DaemonSettings, TestDaemon } from '../../support/daemon.js';
import { FakeModel, sayAs, type ModelAnswer } from '../../support/llm/fake-model.js';
import { WireClient } from '../../support/wire.js';

const say = (verdict: string) => `{"verdict":"${verdict}","reason":"because"}`;

/** How each kind of reviewer is configured to ask the service at this address. */
const KINDS: Readonly<Record<string, (url: string) => { reviewer: object; llm?: Record<string, unknown> }>> = {
  openai: (url) => ({ reviewer: { provider: 'openai', base_url: url, model: 'judge' } }),
  azure: (url) => ({
    reviewer: { provider: 'azure', model: 'judge' },
    llm: { azure: { base_url: url.replace('/v1', ''), api_key: 'k', max_retries: 0 } },
  }),
  ollama: (url) => ({
    reviewer: { provider: 'ollama', model: 'judge' },
    llm: { ollama: { base_url: url, max_retries: 0 } },
  }),
  litellm: (url) => ({
    reviewer: { provider: 'litellm', model: 'judge' },
    llm: { litellm: { base_url: url, max_retries: 0 } },
  }),
  auto: (url) => ({
    reviewer: { provider: 'auto', model: 'judge' },
    llm: { ollama: { base_url: url, max_retries: 0 }, fallback: [] },
  }),
};

/** A busy machine takes more than a second to load the client of a service. */
const TIMEOUT_S = 5;

const settingsOf = (kind: string, url: string): DaemonSettings => {
  const { reviewer, llm } = KINDS[kind]!(url);
  return {
    confirmation: { mode: 'llm', checkpoint: false, reviewer: { timeout: TIMEOUT_S, cache: 0.001, ...reviewer } },
    ...(llm && { llm }),
  };
};

describe.each(Object.keys(KINDS))('%s confirms', (kind) => {
  let model: FakeModel;
  let daemon: TestDaemon;
  let client: WireClient;

  beforeAll(async () => {
    model = await FakeModel.start();
    daemon = await TestDaemon.startCold({ settings: settingsOf(kind, model.url) });
    client = await WireClient.connect(daemon.url);
  });

  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await daemon[Symbol.asyncDispose]();
    await model[Symbol.asyncDispose]();
  });

  beforeEach(() => {
    model.requests.length = 0;
    writeFileSync(join(daemon.workspace, 'kept'), '');
  });

  it('by a yes', async () => {
    model.answer = say('approve');
    expect(await client.run('rm kept')).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(existsSync(join(daemon.workspace, 'kept'))).toBe(false);
    expect(model.requests.map(({ body }) => body.model)).toEqual(['judge']);
    expect(model.requests[0]?.body.messages[1]?.content).toContain('"rm kept"');
  });

  const others: readonly (readonly [string, ModelAnswer, string])[] = [
    ['a no', say('reject'), 'because'],
    ['nonsense', 'Sure, go ahead.', 'gave no verdict'],
    ['a yes with something around it', `Yes: ${say('approve')}`, 'gave no verdict'],
    ['an empty answer', '', 'gave no verdict'],
    ['a message without a word', silence, 'gave no verdict'],
    ['a time-out', () => undefined, `has not answered within ${TIMEOUT_S * 1000} ms`],
    ['an error', (response) => void response.writeHead(500).end(say('approve')), 'gave no verdict'],
    ['a broken connection', (response) => void response.destroy(), 'gave no verdict'],
    ['half of an answer', (response) => sayAs(response, '{"verdict":"approve"', 'length'), 'gave no verdict'],
    ...NO_COMPLETIONS.map(([what, answer]) => [what, answer, 'no chat completion'] as const),
  ];

  it.each(others)('not by %s', async (_, answer, why) => {
    model.answer = answer;
    const { error } = await client.run('rm kept');
    expect(error).toMatchObject({ code: 'COMMAND_DENIED', details: { outcome: 'rejected' } });
    expect(error?.message).toContain(why);
    expect(existsSync(join(daemon.workspace, 'kept'))).toBe(true);
    expect(model.requests).toHaveLength(1);
  });
});

describe('auto', () => {
  const start = async (url: string, verdict: string) =>
    TestDaemon.startCold({
      settings: {
        confirmation: { mode: 'llm', checkpoint: false, reviewer: { provider: 'auto', timeout: 5, cache: 0.001 } },
        llm: {
          ollama: { base_url: url, model: 'judge', max_retries: 0 },
          shell_providers: { tool: { command: 'sh', args: ['-c', `cat >/dev/null; echo '${say(verdict)}'`] } },
          fallback: ['tool'],
        },
      },
    });

  it('asks a tool when no service is there', async () => {
    const gone = await FakeModel.start();
    const { url } = gone;
    await gone[Symbol.asyncDispose]();
    await using daemon = await start(url, 'approve');
    await using client = await WireClient.connect(daemon.url);
    expect(await client.run('rm -f none')).toMatchObject({ status: 'completed', exit_code: 0 });
  });

  it('asks nobody else when the first does not say yes', async () => {
    await using model = await FakeModel.start();
    await using daemon = await start(model.url, 'approve');
    await using client = await WireClient.connect(daemon.url);
    for (const answer of [say('reject'), 'I do not know.']) {
      model.answer = answer;
      expect((await client.run('rm -f none')).error?.code).toBe('COMMAND_DENIED');
    }
  });
});
