import { describe, expect, it } from 'vitest';

import { AdapterError, type ErrorCode } from '../../../../src/core/errors.js';
import { ChatEncoder, parseChatRequest } from '../../../../src/core/openai/chat.js';
import type { CompletionAnswer } from '../../../../src/core/openai/completion-request.js';
import type { LlmUsage } from '../../../../src/core/llm/answer.js';
import { openAiFailure } from '../../../../src/core/openai/failure.js';

const FRAME = { id: 'i', created: 1, model: 'm' };
const SCHEMA = { type: 'object', properties: { a: { type: 'number' } } };
const ASKED = { model: 'm', messages: [{ role: 'user', content: 'a' }] };

describe('a chat request', () => {
  it.each([
    [
      'the least',
      ASKED,
      { messages: [{ role: 'user', content: 'a' }], isStreamed: false, includesUsage: false, ignored: [] },
    ],
    ['null is absent', { ...ASKED, stream: null, n: null, worktree: null }, { isStreamed: false, worktree: undefined }],
    [
      'a stream',
      { ...ASKED, stream: true, stream_options: { include_usage: true } },
      { isStreamed: true, includesUsage: true },
    ],
    ['other parameters', { ...ASKED, temperature: 0, tools: [] }, { ignored: ['temperature', 'tools'] }],
    ['text', { ...ASKED, response_format: { type: 'text' } }, { format: undefined }],
    [
      'a JSON object',
      { ...ASKED, response_format: { type: 'json_object' } },
      { format: { schema: { type: 'object' }, isAnyObject: true } },
    ],
    [
      'a JSON Schema',
      { ...ASKED, response_format: { type: 'json_schema', json_schema: { name: 'n', strict: true, schema: SCHEMA } } },
      { format: { schema: SCHEMA, isAnyObject: false } },
    ],
    [
      'tools that need not be called',
      { ...ASKED, tools: [{}], tool_choice: 'auto' },
      { ignored: ['tools', 'tool_choice'] },
    ],
    ['tools that must not be called', { ...ASKED, tools: [{}], tool_choice: 'none' }, {}],
    [
      'allowed tools that need not be called',
      { ...ASKED, tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } } },
      {},
    ],
    ['a worktree', { ...ASKED, worktree: false, worktree_changes: true }, { worktree: false, reportsChanges: true }],
    [
      'every role',
      { ...ASKED, messages: ['developer', 'tool', 'assistant'].map((role) => ({ role, content: role })) },
      {
        messages: [
          { role: 'system', content: 'developer' },
          { role: 'user', content: 'tool' },
          { role: 'assistant', content: 'assistant' },
        ],
      },
    ],
    [
      'parts of text, and an assistant that only called a tool',
      {
        ...ASKED,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'a' },
              { type: 'text', text: 'b' },
            ],
          },
          { role: 'assistant', content: null },
        ],
      },
      {
        messages: [
          { role: 'user', content: 'a\nb' },
          { role: 'assistant', content: '' },
        ],
      },
    ],
    [
      'what a model has refused, in either form',
      {
        ...ASKED,
        messages: [
          { role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] },
          { role: 'assistant', content: null, refusal: 'never' },
        ],
      },
      {
        messages: [
          { role: 'assistant', content: 'no' },
          { role: 'assistant', content: 'never' },
        ],
      },
    ],
  ])('%s', (_, body, expected) => {
    expect(parseChatRequest(body)).toMatchObject(expected);
  });

  it.each([
    [undefined, ''],
    [null, ''],
    [{ messages: ASKED.messages }, 'model'],
    ['text', ''],
    [[], ''],
    [{ model: 'm' }, 'messages'],
    [{ ...ASKED, messages: [] }, 'messages'],
    [{ ...ASKED, messages: [{ role: 'user', content: 5 }] }, 'messages.0.content'],
    [{ ...ASKED, messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] }, 'messages.0.content.0'],
    [{ ...ASKED, n: 2 }, 'n'],
    [{ ...ASKED, stream: 'yes' }, 'stream'],
    [{ ...ASKED, model: 5 }, 'model'],
    [{ ...ASKED, messages: 'hi' }, 'messages'],
    [{ ...ASKED, messages: [{ role: 'user', content: 'a\0b' }] }, 'messages.0.content'],
    [{ ...ASKED, messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages.0.content.0.type'],
    [{ ...ASKED, messages: [{ role: 'assistant', content: [{ type: 'refusal' }] }] }, 'messages.0.content.0.type'],
    [{ ...ASKED, worktree: 'yes' }, 'worktree'],
    [{ ...ASKED, tool_choice: 'required' }, 'tool_choice'],
    [{ ...ASKED, tool_choice: { type: 'function', function: { name: 'f' } } }, 'tool_choice'],
    [{ ...ASKED, tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required' } } }, 'tool_choice'],
    [{ ...ASKED, function_call: { name: 'f' } }, 'function_call'],
    [{ ...ASKED, response_format: 'json' }, 'response_format'],
    [{ ...ASKED, response_format: { type: 'yaml' } }, 'response_format.type'],
    [{ ...ASKED, response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
    [
      { ...ASKED, response_format: { type: 'json_schema', json_schema: { schema: { x: 'y'.repeat(100_000) } } } },
      'response_format.json_schema.schema',
    ],
  ])('%j is refused', (body, field) => {
    expect(() => parseChatRequest(body)).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST', details: { field } }) as Error,
    );
  });
});

describe('an answer', () => {
  const content = 'a';
  const worktree = { changes: [], patch: '' };
  const whole = (usage: LlmUsage | undefined) =>
    new ChatEncoder(FRAME, false).whole({ content, usage, worktree: undefined });

  it('has no usage unless it was told', () => {
    expect(whole(undefined)).not.toHaveProperty('usage');
    expect(whole({ prompt_tokens: 1, completion_tokens: 2, reasoning_tokens: 1 })).toMatchObject({
      usage: {
        prompt_tokens: 1,
        completion_tokens: 2,
        total_tokens: 3,
        completion_tokens_details: { reasoning_tokens: 1 },
      },
    });
  });

  it('streamed, has a last chunk without choices only for what belongs there', () => {
    const usage = { prompt_tokens: 1 };
    const end = (includesUsage: boolean, answer: Partial<CompletionAnswer>) =>
      new ChatEncoder(FRAME, includesUsage).encode({
        type: 'done',
        answer: { content, usage: undefined, worktree: undefined, ...answer },
      });
    expect(end(false, { usage })).toHaveLength(1);
    expect(end(true, {})).toHaveLength(1);
    expect(end(false, { usage, worktree })[1]).toMatchObject({ choices: [], worktree });
    expect(end(false, { usage, worktree })[1]).not.toHaveProperty('usage');
    expect(end(true, { usage })[1]).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 1 },
    });
    expect(new ChatEncoder(FRAME, true).encode({ type: 'text', text: 'a' })).toMatchObject([{ usage: null }]);
  });
});

describe('a failure', () => {
  it.each<[ErrorCode, number]>([
    ['INVALID_REQUEST', 400],
    ['LLM_PROMPT_TOO_LARGE', 400],
    ['PAYLOAD_TOO_LARGE', 413],
    ['UNAUTHORIZED', 401],
    ['FORBIDDEN', 403],
    ['RATE_LIMITED', 429],
    ['LLM_RATE_LIMITED', 429],
    ['LLM_FAILED', 500],
    ['LLM_AUTH', 500],
    ['LLM_UNAVAILABLE', 503],
    ['LLM_TIMEOUT', 504],
    ['SHUTTING_DOWN', 503],
    ['BAD_DIRECTORY', 500],
    ['INTERNAL', 500],
  ])('%s is %i', (code, status) => {
    const failure = openAiFailure(new AdapterError(code, 'why', { details: { detail: 'said' } }));
    expect(failure.status).toBe(status);
    expect(failure.body.error).toMatchObject({ detail: 'said', param: null, code: code.toLowerCase() });
    expect(failure.retryAfterSeconds === undefined).toBe(status !== 429);
  });

  it('says when to come again', () => {
    const failure = openAiFailure(new AdapterError('RATE_LIMITED', 'why', { details: { retry_after_ms: 1200 } }));
    expect(failure.retryAfterSeconds).toBe(2);
    const ran = openAiFailure(new AdapterError('LLM_RATE_LIMITED', 'why', { details: { exit_code: 1 } }));
    expect(ran).toMatchObject({ status: 429, retryAfterSeconds: undefined });
  });
});
