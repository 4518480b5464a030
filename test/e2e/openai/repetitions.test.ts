import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, streamText } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ask as askPlainly } from '../../support/http.js';
import { ask, ToolStage } from './support.js';

const sh = (script: string) => ({ command: 'sh', args: ['-c', script] });

/** Notes each run under its prompt, and fails unless the file `works` is there. */
const failing = (folder: string) =>
  sh(
    `prompt=$(cat); echo run >> ${folder}/runs-$prompt; [ -e ${folder}/works ] && { echo fine; exit; }; echo "it hurts" >&2; exit 3`,
  );

const stage = new ToolStage();

beforeAll(async () => {
  await stage.start(
    { broken: { driver: 'broken', repoPath: 'repo', agentFile: 'none' } },
    { shell_providers: { broken: failing(stage.folder) }, repeat_window: 20 },
  );
});
afterAll(() => stage[Symbol.asyncDispose]());

const baseURL = () => `${stage.daemon.url}/v1`;
const runsOf = (prompt: string) => stage.read(`runs-${prompt}`).split('\n').length - 1;

/** A chat completion without a client that repeats it. */
const post = async (prompt: string, more: object = {}, headers: Readonly<Record<string, string>> = {}) => {
  const answer = await fetch(`${baseURL()}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'broken', messages: ask(prompt), ...more }),
  });
  return { status: answer.status, repeated: answer.headers.get('x-retry-suppressed'), body: await answer.json() };
};

describe('a tool that fails is run once', () => {
  /** With the retries that each client makes by default; LangChain's six would take a minute. */
  const clients: Readonly<Record<string, (prompt: string) => Promise<unknown>>> = {
    openai: (prompt) => stage.client().chat.completions.create({ model: 'broken', messages: ask(prompt) }),
    'openai-responses': (prompt) => stage.client().responses.create({ model: 'broken', input: prompt }),
    'ai-sdk': (prompt) =>
      generateText({ model: createOpenAI({ baseURL: baseURL(), apiKey: 'local' })('broken'), prompt }),
    'ai-sdk-compatible': (prompt) =>
      generateText({ model: createOpenAICompatible({ name: 'local', baseURL: baseURL() })('broken'), prompt }),
    'ai-sdk-stream': async (prompt) => {
      const model = createOpenAI({ baseURL: baseURL(), apiKey: 'local' })('broken');
      await streamText({ model, prompt, onError: () => undefined }).text;
    },
    langchain: (prompt) =>
      new ChatOpenAI({
        model: 'broken',
        apiKey: 'local',
        maxRetries: 2,
        configuration: { baseURL: baseURL() },
      }).invoke(prompt),
  };

  it.concurrent.each(Object.keys(clients))('by %s', async (name) => {
    await expect(clients[name]?.(name)).rejects.toThrow(/CLI failed|No output generated/);
    expect(runsOf(name)).toBe(1);
  });
});

describe('the same request', () => {
  it('gets the same failure, and a header that says why', async () => {
    const first = await post('same');
    expect(first).toMatchObject({ status: 500, repeated: null, body: { error: { detail: 'it hurts' } } });
    expect(await post('same')).toEqual({ ...first, repeated: 'true' });
    expect(runsOf('same')).toBe(1);
  });

  it('is run again for a client that wants it', async () => {
    await post('fresh');
    expect(await post('fresh', {}, { 'cache-control': 'no-cache' })).toMatchObject({ status: 500, repeated: null });
    expect(runsOf('fresh')).toBe(2);
  });

  it.each([
    ['another prompt', 'differs-1', {}],
    ['another parameter', 'differs-0', { seed: 7 }],
  ])('is another one with %s', async (_, prompt, more) => {
    await post('differs-0');
    expect(await post(prompt, more)).toMatchObject({ repeated: null });
  });

  it('of another principal is another one', async () => {
    const [mine, theirs] = ['one', 'two'].map((name) => ({
      authorization: `Bearer ${stage.daemon.createToken('agent', name)}`,
    }));
    await post('principal', {}, mine);
    expect(await post('principal', {}, theirs)).toMatchObject({ repeated: null });
    expect(await post('principal', {}, mine)).toMatchObject({ repeated: 'true' });
  });

  it('of a stream counts too', async () => {
    await post('stream', { stream: true });
    expect(await post('stream', { stream: true })).toMatchObject({ status: 500, repeated: 'true' });
    expect(runsOf('stream')).toBe(1);
  });

  it('that was refused before anything ran is looked at anew', async () => {
    await post('refused', { worktree_changes: true });
    expect(await post('refused', { worktree_changes: true })).toMatchObject({ status: 400, repeated: null });
  });

  it('is run every time with repeat_window: 0', async () => {
    await using other = new ToolStage();
    await other.start(
      { broken: { driver: 'broken', repoPath: 'repo', agentFile: 'none' } },
      { shell_providers: { broken: failing(other.folder) }, repeat_window: 0 },
    );
    const body = JSON.stringify({ model: 'broken', messages: ask('off') });
    const headers = { 'content-type': 'application/json' };
    for (let at = 0; at < 2; at += 1) {
      await askPlainly(`${other.daemon.url}/v1/chat/completions`, { method: 'POST', headers, body });
    }
    expect(other.read('runs-off')).toBe('run\nrun\n');
  });
});
