import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, streamText } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ask as askPlainly } from '../../support/http.js';
import { ask, ToolStage } from './support.js';

/** What Claude Code prints, abridged. */
const CLAUDE_EVENTS = [
  { type: 'system', subtype: 'init', session_id: 's1' },
  ...['Hel', 'lo'].map((text) => ({
    type: 'stream_event',
    event: { type: 'content_block_delta', delta: { type: 'text_delta', text } },
    parent_tool_use_id: null,
  })),
  {
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: 'Hello',
    usage: { input_tokens: 10, cache_read_input_tokens: 5, cache_creation_input_tokens: 0, output_tokens: 2 },
  },
];

const stage = new ToolStage();

beforeAll(async () => {
  stage.tool('codex', 'echo "log: began"; echo; printf "%s|" "$@"; cat');
  stage.tool('gemini', 'cat; echo; echo; echo last paragraph');
  stage.tool(
    'claude',
    `cat >/dev/null; cat <<'END'\n${CLAUDE_EVENTS.map((event) => JSON.stringify(event)).join('\n')}\nEND`,
  );
  stage.tool('steps', 'cat >/dev/null; for i in 1 2 3; do echo "step $i"; sleep 0.2; done');
  await stage.start(
    {
      'codex-repo': { driver: 'codex', repoPath: stage.repo, agentFile: 'AGENTS.md' },
      'codex-full': { driver: 'codex', repoPath: 'repo', normalizer: 'full' },
      'gemini-repo': { driver: 'gemini', repoPath: 'repo', agentFile: 'NOTHING.md', normalizer: 'full' },
      'gemini-block': { driver: 'gemini', repoPath: 'repo' },
      'gemini-native': { driver: 'gemini', repoPath: 'repo', agentFileMode: 'native', normalizer: 'full' },
      'codex-auto': { driver: 'codex', repoPath: 'repo', agentFileMode: 'auto', model: 'gpt-x' },
      claude: { driver: 'claude', repoPath: 'repo' },
      steps: { driver: 'steps', repoPath: 'repo' },
      where: { driver: 'where', repoPath: 'repo/sub' },
    },
    {
      shell_providers: {
        steps: { command: `${stage.folder}/bin/steps` },
        where: { command: 'sh', args: ['-c', 'cat >/dev/null; pwd'] },
      },
    },
  );
});
afterAll(() => stage[Symbol.asyncDispose]());

describe('POST /v1/chat/completions', () => {
  it('is a chat completion, as OpenAI’s client takes it', async () => {
    const answer = await stage.client().chat.completions.create({ model: 'claude', messages: ask() });
    expect(answer).toMatchObject({
      id: expect.stringMatching(/^cmpl-[0-9a-f-]{36}$/) as string,
      object: 'chat.completion',
      model: 'claude',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
      usage: {
        prompt_tokens: 15,
        completion_tokens: 2,
        total_tokens: 17,
        prompt_tokens_details: { cached_tokens: 5 },
      },
    });
    expect(Math.abs(answer.created - Date.now() / 1000)).toBeLessThan(60);
  });

  const contentOf = async (model: string, messages = ask()) => {
    const { choices } = await stage.client().chat.completions.create({ model, messages });
    return choices[0]?.message.content;
  };

  it('gives the tool the repository’s instructions, then the task, system messages first', async () => {
    const messages = [
      { role: 'user' as const, content: 'first' },
      { role: 'system' as const, content: 'You are brief.' },
      { role: 'user' as const, content: [{ type: 'text' as const, text: 'second' }] },
    ];
    const { choices } = await stage.client().chat.completions.create({ model: 'gemini-native', messages });
    expect(choices[0]?.message.content).toContain('You are brief.\n\nfirst\n\nsecond');
    expect(await contentOf('codex-repo')).toBe('--- USER TASK ---\nhello');
  });

  it('keeps a tool from reading AGENTS.md once more, or leaves it to the tool', async () => {
    // The last block of what this codex prints: its arguments, then its prompt, which has the file or has not.
    expect(await contentOf('codex-full')).toContain(
      '|-c|project_doc_max_bytes=0|Answer in one word.\n\n--- USER TASK ---\nhello',
    );
    expect(await contentOf('codex-auto')).toMatch(/\|-s\|read-only\|-m\|gpt-x\|hello$/);
  });

  it('of plain text the last paragraph is the answer, unless the model says all of it', async () => {
    expect(await contentOf('gemini-block')).toBe('last paragraph');
    expect(await contentOf('gemini-repo')).toBe('hello\n\nlast paragraph');
  });

  it('runs in the repository', async () => {
    expect(await contentOf('where')).toBe(`${stage.repo}/sub`);
  });

  it('streams as the tool prints', async () => {
    const times: number[] = [];
    const parts: string[] = [];
    const stream = await stage.client().chat.completions.create({ model: 'steps', messages: ask(), stream: true });
    for await (const { choices } of stream) {
      const text = choices[0]?.delta.content ?? '';
      if (text === '') continue;
      parts.push(text);
      times.push(performance.now());
    }
    expect(parts.join('')).toBe('step 1\nstep 2\nstep 3\n');
    // They were not held back to come together at the end.
    expect(parts.length).toBeGreaterThan(1);
    expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(100);
  });

  it('a stream has its usage when that is asked for, and a finish reason in any case', async () => {
    const create = { model: 'claude', messages: ask(), stream: true as const, stream_options: { include_usage: true } };
    const chunks = [];
    for await (const chunk of await stage.client().chat.completions.create(create)) chunks.push(chunk);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? null)).toEqual(['', 'Hel', 'lo', null, null]);
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason)).toEqual([null, null, null, 'stop', undefined]);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 15, completion_tokens: 2 } });
    const helped = stage.client().chat.completions.stream({ model: 'claude', messages: ask() });
    expect(await helped.finalContent()).toBe('Hello');
  });

  it('ends its stream with [DONE]', async () => {
    const body = JSON.stringify({ model: 'claude', messages: ask(), stream: true });
    const headers = { 'content-type': 'application/json' };
    const { status, type, text } = await askPlainly(`${stage.daemon.url}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body,
    });
    expect(status).toBe(200);
    expect(type).toContain('text/event-stream');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(text).not.toContain('"usage"');
  });

  it('says which of OpenAI’s parameters mean nothing here', async () => {
    const { response } = await stage
      .client()
      .chat.completions.create({ model: 'claude', messages: ask(), temperature: 1, top_p: 0.5, n: 1 })
      .withResponse();
    expect(response.headers.get('x-ignored-params')).toBe('temperature, top_p');
  });

  it('answers the AI SDK, whole and streamed', async () => {
    const provider = createOpenAICompatible({ name: 'local', baseURL: `${stage.daemon.url}/v1`, includeUsage: true });
    const model = provider('claude');
    const whole = await generateText({ model, prompt: 'hello', maxRetries: 0 });
    expect(whole).toMatchObject({ text: 'Hello', finishReason: 'stop' });
    expect(whole.usage).toMatchObject({ inputTokens: 15, outputTokens: 2 });
    const streamed = streamText({ model, prompt: 'hello', maxRetries: 0 });
    const parts: string[] = [];
    for await (const part of streamed.textStream) parts.push(part);
    expect(parts.join('')).toBe('Hello');
    expect(await streamed.usage).toMatchObject({ inputTokens: 15, outputTokens: 2 });
  });
});

describe('GET /v1/models', () => {
  it('lists the models of the file', async () => {
    const ids = (await stage.client().models.list()).data.map(({ id }) => id);
    expect(ids).toEqual([
      'codex-repo',
      'codex-full',
      'gemini-repo',
      'gemini-block',
      'gemini-native',
      'codex-auto',
      'claude',
      'steps',
      'where',
    ]);
    expect(await stage.client().models.retrieve('claude')).toMatchObject({
      id: 'claude',
      object: 'model',
      owned_by: 'claude',
    });
    await expect(stage.client().models.retrieve('nothing')).rejects.toMatchObject({
      status: 404,
      code: 'model_not_found',
    });
  });
});
