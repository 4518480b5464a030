import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, jsonSchema, Output, streamText } from 'ai';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ask as askPlainly } from '../../support/http.js';
import { ask, ToolStage } from './support.js';

const delta = (text: string) => ({
  type: 'stream_event',
  event: { type: 'content_block_delta', delta: { type: 'text_delta', text } },
  parent_tool_use_id: null,
});
const usage = { input_tokens: 10, cache_read_input_tokens: 5, cache_creation_input_tokens: 0, output_tokens: 2 };
const result = { type: 'result', subtype: 'success', is_error: false, usage };
const lines = (events: readonly object[]) => events.map((event) => JSON.stringify(event)).join('\n');

/** A claude that says its prompt, and with `--json-schema` something beside its structured answer. */
const CLAUDE = `
for arg; do [ "$previous" = --json-schema ] && printf '%s' "$arg" > "$0.schema"; previous=$arg; done
prompt=$(cat)
case $prompt in *fail*) echo run >> "$0.runs"; echo it hurts >&2; exit 3;; esac
case $prompt in *half*) echo '${JSON.stringify(delta('half'))}'; sleep 0.3; exit 3;; esac
case $prompt in *prose*) echo '${JSON.stringify({ ...result, result: 'It is Ada.' })}'; exit;; esac
case $* in
*--json-schema*) cat <<'END'
${lines([delta('Let me think.'), { ...result, result: '', structured_output: { name: 'Ada', age: 36 } }])}
END
;;
*) cat <<'END'
${lines([delta('Hel'), delta('lo'), { ...result, result: 'Hello' }])}
END
esac`;

/** A codex that answers with the file of its schema. */
const CODEX = `
for arg; do [ "$previous" = --output-schema ] && file=$arg; previous=$arg; done
cat >/dev/null
node -e 'const text = fs.readFileSync(process.argv[1], "utf8")
for (const event of [{ type: "item.completed", item: { type: "agent_message", text } }, { type: "turn.completed" }])
  console.log(JSON.stringify(event))' "$file"`;

const SCHEMA = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'number' } },
  required: ['name', 'age'],
  additionalProperties: false,
} as const;

const stage = new ToolStage();

beforeAll(async () => {
  stage.tool('claude', CLAUDE);
  stage.tool('codex', CODEX);
  stage.tool('gemini', 'cat');
  await stage.start({
    claude: { driver: 'claude', repoPath: 'repo', agentFile: 'none' },
    codex: { driver: 'codex', repoPath: 'repo', normalizer: 'full' },
    gemini: { driver: 'gemini', repoPath: 'repo', agentFile: 'none', normalizer: 'full' },
    changing: { driver: 'claude', repoPath: 'repo', agentFile: 'none', worktree: true },
  });
});
afterAll(() => stage[Symbol.asyncDispose]());

const aiSdk = () => createOpenAI({ baseURL: `${stage.daemon.url}/v1`, apiKey: 'local' });

describe('POST /v1/responses', () => {
  it('is a response, as OpenAI’s client takes it', async () => {
    const response = await stage.client().responses.create({ model: 'claude', input: 'hello' });
    expect(response.output_text).toBe('Hello');
    expect(response).toMatchObject({
      id: expect.stringMatching(/^resp_/) as string,
      object: 'response',
      status: 'completed',
      model: 'claude',
      store: false,
      usage: { input_tokens: 15, output_tokens: 2, total_tokens: 17, input_tokens_details: { cached_tokens: 5 } },
    });
  });

  it('takes instructions and a conversation', async () => {
    const { output_text: text } = await stage.client().responses.create({
      model: 'gemini',
      instructions: 'Be brief.',
      input: [
        { role: 'user', content: 'first' },
        { role: 'assistant', content: 'answer' },
        { role: 'user', content: [{ type: 'input_text', text: 'second' }] },
      ],
    });
    expect(text).toBe('Be brief.\n\nUSER: first\n\nASSISTANT: answer\n\nUSER: second');
  });

  it('streams the events of the API', async () => {
    const events: ResponseStreamEvent[] = [];
    const create = { model: 'claude', input: 'hello', stream: true } as const;
    for await (const event of await stage.client().responses.create(create)) events.push(event);
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events.map(({ sequence_number: at }) => at)).toEqual(events.map((_, at) => at));
  });

  it('streams to the helper of OpenAI’s client', async () => {
    const stream = stage.client().responses.stream({ model: 'claude', input: 'hello' });
    const response = await stream.finalResponse();
    expect(response.output_text).toBe('Hello');
    expect(response.usage?.total_tokens).toBe(17);
  });

  it('names its events, and ends without [DONE]', async () => {
    const body = JSON.stringify({ model: 'claude', input: 'hello', stream: true });
    const headers = { 'content-type': 'application/json' };
    const answer = await askPlainly(`${stage.daemon.url}/v1/responses`, { method: 'POST', headers, body });
    expect(answer.text).toMatch(/^event: response\.created\ndata: \{"type":"response\.created"/);
    expect(answer.text).not.toContain('[DONE]');
  });

  it('answers the AI SDK by its default API, whole and streamed', async () => {
    const model = aiSdk()('claude');
    const whole = await generateText({ model, prompt: 'hello' });
    expect(whole).toMatchObject({ text: 'Hello', finishReason: 'stop' });
    expect(whole.usage).toMatchObject({ inputTokens: 15, outputTokens: 2 });
    const streamed = streamText({ model, prompt: 'hello' });
    const parts: string[] = [];
    for await (const part of streamed.textStream) parts.push(part);
    expect(parts).toEqual(['Hel', 'lo']);
    expect(await streamed.usage).toMatchObject({ inputTokens: 15, outputTokens: 2 });
  });

  it('answers LangChain by the same API, whole and streamed', async () => {
    const configuration = { baseURL: `${stage.daemon.url}/v1` };
    const model = new ChatOpenAI({ model: 'claude', apiKey: 'local', useResponsesApi: true, configuration });
    expect((await model.invoke('hello')).text).toBe('Hello');
    let text = '';
    for await (const chunk of await model.stream('hello')) text += chunk.text;
    expect(text).toBe('Hello');
  });

  it('says what a run has changed', async () => {
    const body = JSON.stringify({ model: 'changing', input: 'hello', worktree_changes: true });
    const headers = { 'content-type': 'application/json' };
    const answer = await askPlainly(`${stage.daemon.url}/v1/responses`, { method: 'POST', headers, body });
    expect(answer.body).toMatchObject({ status: 'completed', worktree: { changes: [], patch: '' } });
  });

  it.each([
    ['an earlier response', { previous_response_id: 'resp_1' }, 'previous_response_id', /answers are not kept here/],
    ['to be kept', { store: true }, 'store', /send "store": false/],
    ['a tool that must be called', { tool_choice: 'required' }, 'tool_choice', /cannot call those of a request/],
    ['an unknown model', { model: 'nope' }, 'model', /Unknown model/],
  ])('refuses %s', async (_, more, param, message) => {
    const create = { model: 'claude', input: 'hello', ...more };
    await expect(stage.client().responses.create(create as never)).rejects.toMatchObject({
      status: 400,
      param,
      message: expect.stringMatching(message) as string,
    });
  });

  it('a failure has the same status as of a chat completion', async () => {
    await expect(stage.client().responses.create({ model: 'claude', input: 'fail' })).rejects.toMatchObject({
      status: 500,
      code: 'llm_failed',
      message: expect.stringMatching(/CLI failed/) as string,
      error: { detail: 'it hurts' },
    });
  });

  it('a failure after the first piece is an error of the stream, for OpenAI’s client and the AI SDK', async () => {
    const parts: string[] = [];
    const reading = (async () => {
      const stream = await stage.client().responses.create({ model: 'claude', input: 'half 1', stream: true });
      for await (const event of stream) parts.push(event.type);
    })();
    await expect(reading).rejects.toThrow('CLI failed');
    expect(parts).toContain('response.failed');
    const errors: unknown[] = [];
    const streamed = streamText({
      model: aiSdk()('claude'),
      prompt: 'half 2',
      onError: ({ error }) => void errors.push(error),
    });
    await streamed.consumeStream();
    expect(JSON.stringify(errors)).toContain('CLI failed');
  });
});

describe('structured output', () => {
  const chatFormat = { type: 'json_schema', json_schema: { name: 'person', strict: true, schema: SCHEMA } } as const;

  it('is what claude gives for a JSON Schema, and nothing it says beside', async () => {
    const create = { model: 'claude', messages: ask(), response_format: chatFormat };
    const { choices } = await stage.client().chat.completions.create(create);
    expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual({ name: 'Ada', age: 36 });
    expect(JSON.parse(stage.read('bin/claude.schema'))).toEqual(SCHEMA);
    let streamed = '';
    for await (const chunk of await stage.client().chat.completions.create({ ...create, stream: true })) {
      streamed += chunk.choices[0]?.delta.content ?? '';
    }
    expect(JSON.parse(streamed)).toEqual({ name: 'Ada', age: 36 });
  });

  it('json_object is a schema that allows any object', async () => {
    const create = { model: 'claude', messages: ask(), response_format: { type: 'json_object' } } as const;
    const { choices } = await stage.client().chat.completions.create(create);
    expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual({ name: 'Ada', age: 36 });
    expect(JSON.parse(stage.read('bin/claude.schema'))).toEqual({ type: 'object' });
  });

  it('codex gets the schema in a file', async () => {
    const create = { model: 'codex', messages: ask(), response_format: chatFormat };
    const { choices } = await stage.client().chat.completions.create(create);
    expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual(SCHEMA);
  });

  it('is what the AI SDK makes objects of, by either API', async () => {
    const schema = jsonSchema<{ name: string; age: number }>({ ...SCHEMA, required: [...SCHEMA.required] });
    const compatible = createOpenAICompatible({
      name: 'local',
      baseURL: `${stage.daemon.url}/v1`,
      supportsStructuredOutputs: true,
    });
    for (const model of [aiSdk()('claude'), compatible('claude')]) {
      const { output } = await generateText({ model, output: Output.object({ schema }), prompt: 'hello' });
      expect(output).toEqual({ name: 'Ada', age: 36 });
    }
  });

  it('is what LangChain makes objects of', async () => {
    const configuration = { baseURL: `${stage.daemon.url}/v1` };
    const model = new ChatOpenAI({ model: 'claude', apiKey: 'local', configuration });
    const structured = model.withStructuredOutput({ ...SCHEMA, title: 'person' });
    expect(await structured.invoke('hello')).toEqual({ name: 'Ada', age: 36 });
  });

  it.each([
    [
      'a schema',
      'gemini',
      chatFormat,
      /gemini cannot be held to json_schema.*models that can: claude, codex, changing/,
    ],
    ['any object', 'codex', { type: 'json_object' }, /codex cannot be held to json_object.*that can: claude, changing/],
  ] as const)(
    'of a tool that cannot be held to %s is refused, with the models that can',
    async (_, model, format, why) => {
      const create = { model, messages: ask(), response_format: format };
      await expect(stage.client().chat.completions.create(create)).rejects.toMatchObject({
        status: 400,
        param: 'response_format',
        message: expect.stringMatching(why) as string,
      });
      await expect(
        stage.client().responses.create({
          model: 'gemini',
          input: 'x',
          text: { format: { type: 'json_schema', name: 'n', schema: SCHEMA } },
        }),
      ).rejects.toMatchObject({ status: 400, param: 'text.format' });
    },
  );

  it('an answer in words is a failure', async () => {
    const create = { model: 'claude', messages: ask('prose'), response_format: chatFormat };
    await expect(stage.client().chat.completions.create(create)).rejects.toMatchObject({
      status: 500,
      error: { message: 'CLI failed', detail: 'It is Ada.' },
    });
  });

  it('tools that a model need not call are ignored, and said so', async () => {
    const tools = [{ type: 'function' as const, function: { name: 'f', parameters: {} } }];
    const create = { model: 'claude', messages: ask(), tools, tool_choice: 'auto' as const };
    const { data, response } = await stage.client().chat.completions.create(create).withResponse();
    expect(data.choices[0]?.message.content).toBe('Hello');
    expect(response.headers.get('x-ignored-params')).toBe('tools, tool_choice');
    await expect(stage.client().chat.completions.create({ ...create, tool_choice: 'required' })).rejects.toMatchObject({
      status: 400,
      param: 'tool_choice',
    });
  });
});
