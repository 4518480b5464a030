import { z } from 'zod';

import type { LlmUsage } from '../llm/answer.js';
import type { LlmMessage } from '../llm/messages.js';
import {
  type AnswerEncoder,
  type AnswerEvent,
  type AnswerFrame,
  commonFields,
  type CompletionAnswer,
  type CompletionRequest,
  flag,
  formatOf,
  invalid,
  jsonSchema,
  parseRequest,
  text,
} from './completion-request.js';
import type { OpenAiError } from './failure.js';

/**
 * Token counts in the format of the API, which requires every count: unknown counts are 0. Null when all are unknown.
 */
const toUsage = (usage: LlmUsage | undefined) => {
  if (!usage) return null;
  const { prompt_tokens: input = 0, completion_tokens: output = 0, cached_tokens: cached = 0 } = usage;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoning_tokens ?? 0 },
    total_tokens: usage.total_tokens ?? input + output,
  };
};

type Status = 'in_progress' | 'completed' | 'failed';

/** Position of the only text part of a response. */
const TEXT_POSITION = { output_index: 0, content_index: 0 };

/**
 * Encodes an answer as a response with one message, whole or in events. Source:
 * https://platform.openai.com/docs/api-reference/responses
 */
export class ResponsesEncoder implements AnswerEncoder {
  readonly hasDoneMark = false;
  /** The ids of the response and its message are derived from its id. */
  readonly #frame: AnswerFrame;
  #sequence = 0;
  #text = '';

  constructor(frame: AnswerFrame) {
    this.#frame = frame;
  }

  whole({ content, usage, worktree }: CompletionAnswer): object {
    const response = this.#response('completed', [this.#message('completed', content)], usage);
    return { ...response, ...(worktree && { worktree }) };
  }

  encode(event: AnswerEvent): readonly object[] {
    switch (event.type) {
      case 'begun':
        return this.#begin();
      case 'text':
        this.#text += event.text;
        return [this.#event('response.output_text.delta', { ...this.#position(), delta: event.text, logprobs: [] })];
      case 'done':
        // Everything that was streamed is the content.
        return this.#end({ ...event.answer, content: this.#text });
      case 'failed':
        return this.#fail(event.error);
    }
  }

  #begin(): readonly object[] {
    const response = this.#response('in_progress', []);
    const item = this.#message('in_progress');
    return [
      this.#event('response.created', { response }),
      this.#event('response.in_progress', { response }),
      this.#event('response.output_item.added', { output_index: 0, item }),
      this.#event('response.content_part.added', { ...this.#position(), part: textPart('') }),
    ];
  }

  #end(answer: CompletionAnswer): readonly object[] {
    const text = answer.content;
    const item = this.#message('completed', text);
    const response = this.whole(answer);
    return [
      this.#event('response.output_text.done', { ...this.#position(), text, logprobs: [] }),
      this.#event('response.content_part.done', { ...this.#position(), part: textPart(text) }),
      this.#event('response.output_item.done', { output_index: 0, item }),
      this.#event('response.completed', { response }),
    ];
  }

  /** Some clients expect a response that has failed, others an event of the type `error`. */
  #fail(error: OpenAiError): readonly object[] {
    const { code, message } = error;
    const failed = { ...this.#response('failed', []), error: { code, message } };
    return [this.#event('response.failed', { response: failed }), this.#event('error', { error })];
  }

  #event(type: string, fields: object): object {
    this.#sequence += 1;
    return { type, sequence_number: this.#sequence - 1, ...fields };
  }

  #position() {
    return { item_id: `msg_${this.#frame.id}`, ...TEXT_POSITION };
  }

  #message(status: 'in_progress' | 'completed', text?: string) {
    const content = text === undefined ? [] : [textPart(text)];
    return { id: `msg_${this.#frame.id}`, type: 'message', status, role: 'assistant', content };
  }

  /** Clients expect every field; unsupported ones have OpenAI's defaults. */
  #response(status: Status, output: readonly object[], usage?: LlmUsage) {
    const { id, created, model } = this.#frame;
    return {
      ...{ id: `resp_${id}`, object: 'response', created_at: created, status, model, output },
      ...{ error: null, incomplete_details: null, usage: toUsage(usage), store: false, background: false },
      ...{ instructions: null, previous_response_id: null, metadata: {}, truncation: 'disabled', user: null },
      ...{ tools: [], tool_choice: 'auto', parallel_tool_calls: true, max_output_tokens: null },
      ...{
        temperature: null,
        top_p: null,
        reasoning: { effort: null, summary: null },
        text: { format: { type: 'text' } },
      },
    };
  }
}

const textPart = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });

const ROLES = { system: 'system', developer: 'system', user: 'user', assistant: 'assistant' } as const;

const part = z.union([
  z.object({ type: z.enum(['input_text', 'output_text', 'text', 'summary_text']), text }),
  z.object({ type: z.literal('refusal'), refusal: text }).transform(({ refusal }) => ({ type: 'text', text: refusal })),
  z.object({ type: z.string('must be the type of the part') }),
]);
const content = z.union(
  [text, z.array(part)],
  'must be a text without NUL, or a list of parts such as { "type": "input_text", "text": "…" }',
);

const messageItem = z.object({
  type: z.literal('message').optional(),
  role: z.enum(['system', 'developer', 'user', 'assistant'], `must be one of ${Object.keys(ROLES).join(', ')}`),
  content,
});
const outputItem = z.object({ type: z.enum(['function_call_output', 'custom_tool_call_output']), output: content });
/** Kinds of items without content for a prompt: reasoning, and calls of tools. */
const IGNORED_ITEMS = ['reasoning', 'function_call', 'custom_tool_call'] as const;
const ignoredItem = z.object({ type: z.enum(IGNORED_ITEMS) });

const textFormat = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.literal('text') }),
    z.object({ type: z.literal('json_object') }),
    z.object({ type: z.literal('json_schema'), schema: jsonSchema }),
  ],
  'must be of the type text, json_object or json_schema',
);

const NOT_KEPT = 'answers are not kept here: send the whole conversation as input';
const absent = (why: string) => z.null(why).optional();

/**
 * The body of `POST /v1/responses`, limited to the supported fields. Source:
 * https://platform.openai.com/docs/api-reference/responses/create
 */
const responsesRequest = z.object({
  ...commonFields,
  input: z.union([text, z.array(z.unknown()).min(1, 'there is no item')], 'must be a text or a list of items'),
  instructions: text.nullish(),
  text: z.object({ format: textFormat.nullish() }, 'must be an object').nullish(),
  store: z.literal(false, 'answers are not kept here: send "store": false, or leave it out').nullish(),
  background: z.literal(false, 'answers are not kept here, so that none could be fetched later').nullish(),
  previous_response_id: absent(NOT_KEPT),
  conversation: absent(NOT_KEPT),
  prompt: absent('prompts are not kept here: send instructions and input'),
  stream_options: z.object({ include_obfuscation: flag }, 'must be an object').nullish(),
});

/**
 * Parses the body of `POST /v1/responses`.
 * @throws AdapterError INVALID_REQUEST, `details.field` names the field
 */
export const parseResponsesRequest = (body: unknown): CompletionRequest =>
  parseRequest(responsesRequest, body, ({ instructions, input, text: answer }) => {
    const dialogue = typeof input === 'string' ? [{ role: 'user' as const, content: input }] : input.flatMap(readItem);
    return {
      messages: instructions ? [{ role: 'system', content: instructions }, ...dialogue] : dialogue,
      format: formatOf('text.format', answer?.format),
    };
  });

function readItem(item: unknown, index: number): readonly LlmMessage[] {
  const field = `input.${index}`;
  if (ignoredItem.safeParse(item).success) return [];
  const output = outputItem.safeParse(item);
  if (output.success) return [{ role: 'user', content: toText(output.data.output, `${field}.output`) }];
  const { type } = z
    .object({ type: z.string().optional().catch(undefined) })
    .catch({})
    .parse(item);
  if (type === 'item_reference')
    throw invalid(field, `${NOT_KEPT} (the AI SDK does with providerOptions: { openai: { store: false } })`);
  if (type !== undefined && type !== 'message') {
    throw invalid(`${field}.type`, `an item of the type ${type} cannot be given to a tool; messages can`);
  }
  const parsed = messageItem.safeParse(item);
  if (parsed.success)
    return [{ role: ROLES[parsed.data.role], content: toText(parsed.data.content, `${field}.content`) }];
  const [{ path, message } = { path: [], message: 'it cannot be read' }] = parsed.error.issues;
  throw invalid([field, ...path].join('.'), message);
}

function toText(value: z.output<typeof content>, field: string): string {
  if (typeof value === 'string') return value;
  const texts = value.map((entry, at) => {
    if ('text' in entry && typeof entry.text === 'string') return entry.text;
    throw invalid(`${field}.${at}`, `a part of the type ${entry.type} cannot be given to a tool; input_text can`);
  });
  return texts.join('\n');
}
