import { describe, expect, it } from 'vitest';

import { parseResponsesRequest, ResponsesEncoder } from '../../../../src/core/openai/responses.js';

const ASKED = { model: 'm', input: 'hello' };
const SCHEMA = { type: 'object' };

describe('a request for a response', () => {
  it.each([
    ['a text', ASKED, { messages: [{ role: 'user', content: 'hello' }], isStreamed: false, format: undefined }],
    [
      'instructions',
      { ...ASKED, instructions: 'Be brief.' },
      {
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'hello' },
        ],
      },
    ],
    [
      'items of every kind that has a text',
      {
        ...ASKED,
        input: [
          { role: 'developer', content: 'rules' },
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'a' }] },
          { type: 'reasoning', id: 'r', summary: [] },
          { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
          { type: 'function_call_output', call_id: 'c', output: 'found' },
          {
            type: 'message',
            role: 'assistant',
            id: 'x',
            content: [{ type: 'output_text', text: 'b', annotations: [] }],
          },
          { role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] },
        ],
      },
      {
        messages: [
          { role: 'system', content: 'rules' },
          { role: 'user', content: 'a' },
          { role: 'user', content: 'found' },
          { role: 'assistant', content: 'b' },
          { role: 'assistant', content: 'no' },
        ],
      },
    ],
    [
      'a JSON Schema',
      { ...ASKED, text: { format: { type: 'json_schema', name: 'n', schema: SCHEMA, strict: true } } },
      { format: { schema: SCHEMA, isAnyObject: false, field: 'text.format' } },
    ],
    ['a JSON object', { ...ASKED, text: { format: { type: 'json_object' } } }, { format: { isAnyObject: true } }],
    ['nothing kept', { ...ASKED, store: false, previous_response_id: null, background: false }, { ignored: [] }],
    ['the rest', { ...ASKED, temperature: 0, tools: [] }, { ignored: ['temperature', 'tools'] }],
    ['a worktree', { ...ASKED, worktree: true, worktree_changes: true }, { worktree: true, reportsChanges: true }],
  ])('%s', (_, body, expected) => {
    expect(parseResponsesRequest(body)).toMatchObject(expected);
  });

  it.each([
    [{ model: 'm' }, 'input'],
    [{ input: 'x' }, 'model'],
    [{ ...ASKED, input: [] }, 'input'],
    [{ ...ASKED, input: [5] }, 'input.0'],
    [{ ...ASKED, input: [{ role: 'robot', content: 'x' }] }, 'input.0.role'],
    [{ ...ASKED, input: [{ role: 'user', content: 'a\0b' }] }, 'input.0.content'],
    [{ ...ASKED, input: [{ role: 'user', content: [{ type: 'input_image' }] }] }, 'input.0.content.0'],
    [{ ...ASKED, input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input.0'],
    [{ ...ASKED, input: [{ type: 'computer_call' }] }, 'input.0.type'],
    [{ ...ASKED, previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ ...ASKED, conversation: 'conv_1' }, 'conversation'],
    [{ ...ASKED, prompt: { id: 'p' } }, 'prompt'],
    [{ ...ASKED, store: true }, 'store'],
    [{ ...ASKED, background: true }, 'background'],
    [{ ...ASKED, tool_choice: 'required' }, 'tool_choice'],
    [{ ...ASKED, tool_choice: { type: 'function', name: 'f' } }, 'tool_choice'],
    [{ ...ASKED, text: { format: { type: 'json_schema' } } }, 'text.format.schema'],
  ])('%j is refused', (body, field) => {
    expect(() => parseResponsesRequest(body)).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST', details: { field } }) as Error,
    );
  });
});

describe('a streamed response', () => {
  const frame = { id: 'i', created: 1, model: 'm' };
  const typesOf = (events: readonly object[]) => events.map((event) => (event as { type: string }).type);

  it('has every event that clients wait for, numbered', () => {
    const encoder = new ResponsesEncoder(frame);
    const events = [
      ...encoder.encode({ type: 'begun' }),
      ...encoder.encode({ type: 'text', text: 'a' }),
      ...encoder.encode({ type: 'text', text: 'b' }),
      ...encoder.encode({
        type: 'done',
        answer: {
          content: 'b',
          usage: { prompt_tokens: 1, completion_tokens: 2, cached_tokens: 1 },
          worktree: undefined,
        },
      }),
    ];
    expect(typesOf(events)).toEqual([
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
    expect(events.map((event) => (event as { sequence_number: number }).sequence_number)).toEqual(
      events.map((_, index) => index),
    );
    expect(events.at(-1)).toMatchObject({
      response: {
        status: 'completed',
        output: [{ content: [{ type: 'output_text', text: 'ab' }] }],
        usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3, input_tokens_details: { cached_tokens: 1 } },
      },
    });
  });

  it('says in both ways that it has failed', () => {
    const encoder = new ResponsesEncoder(frame);
    const error = { message: 'CLI failed', type: 'server_error', code: 'llm_failed', param: null };
    expect(encoder.encode({ type: 'failed', error })).toMatchObject([
      { type: 'response.failed', response: { status: 'failed', error: { code: 'llm_failed', message: 'CLI failed' } } },
      { type: 'error', error },
    ]);
  });

  it('has no usage that nobody has told', () => {
    expect(new ResponsesEncoder(frame).whole({ content: 'a', usage: undefined, worktree: undefined })).toMatchObject({
      usage: null,
    });
  });
});
