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

/** Token counts in the format of the API; unknown counts are omitted. */
const toUsage = ({
  prompt_tokens = 0,
  completion_tokens = 0,
  total_tokens,
  cached_tokens,
  reasoning_tokens,
}: LlmUsage) => ({
  prompt_tokens,
  completion_tokens,
  total_tokens: total_tokens ?? prompt_tokens + completion_tokens,
  ...(cached_tokens !== undefined && { prompt_tokens_details: { cached_tokens } }),
  ...(reasoning_tokens !== undefined && { completion_tokens_details: { reasoning_tokens } }),
});

/**
 * Encodes an answer as a chat completion, whole or in chunks. Source:
 * https://platform.openai.com/docs/api-reference/chat
 */
export class ChatEncoder implements AnswerEncoder {
  readonly hasDoneMark = true;
  readonly #frame: AnswerFrame;
  readonly #includesUsage: boolean;

  constructor(frame: AnswerFrame, includesUsage: boolean) {
    this.#frame = frame;
    this.#includesUsage = includesUsage;
  }

  whole({ content, usage, worktree }: CompletionAnswer): object {
    const { id, created, model } = this.#frame;
    const choice = { index: 0, message: { role: 'assistant', content }, logprobs: null, finish_reason: 'stop' };
    const frame = { id, object: 'chat.completion', created, model };
    return { ...frame, choices: [choice], ...(usage && { usage: toUsage(usage) }), ...(worktree && { worktree }) };
  }

  encode(event: AnswerEvent): readonly object[] {
    switch (event.type) {
      case 'begun':
        return [this.#chunk({ role: 'assistant', content: '' }, null)];
      case 'text':
        return [this.#chunk({ content: event.text }, null)];
      case 'done':
        return this.#end(event.answer);
      case 'failed':
        return [{ error: event.error }];
    }
  }

  /** Clients fail without `finish_reason` or without `choices`. */
  #end({ usage, worktree }: CompletionAnswer): readonly object[] {
    const stop = this.#chunk({}, 'stop');
    const told = this.#includesUsage ? usage : undefined;
    if (!told && !worktree) return [stop];
    const last = { ...this.#base(), choices: [] };
    return [stop, { ...last, ...(told && { usage: toUsage(told) }), ...(worktree && { worktree }) }];
  }

  #chunk(delta: object, finish: 'stop' | null): object {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
    return { ...this.#base(), choices, ...(this.#includesUsage && { usage: null }) };
  }

  #base(): object {
    const { id, created, model } = this.#frame;
    return { id, object: 'chat.completion.chunk', created, model };
  }
}

const textPart = z.object({ type: z.literal('text'), text });
/** A refusal of a model is also part of the conversation. */
const refusalPart = z.object({ type: z.literal('refusal'), refusal: text }).transform(({ refusal }) => asText(refusal));
const otherPart = z.object({
  type: z
    .string()
    .refine(
      (type) => type !== 'text' && type !== 'refusal',
      'a part of the type text needs a text, a refusal its refusal',
    ),
});

const asText = (value: string): z.output<typeof textPart> => ({ type: 'text', text: value });

const ROLE_NAMES = ['system', 'developer', 'user', 'assistant', 'tool', 'function'] as const;

const message = z.object({
  role: z.enum(ROLE_NAMES, `must be one of ${ROLE_NAMES.join(', ')}`),
  content: z
    .union(
      [text, z.array(z.union([textPart, refusalPart, otherPart])), z.null()],
      'must be a text without NUL, or a list of parts such as { "type": "text", "text": "…" }',
    )
    .optional(),
  refusal: text.nullish(),
});

const responseFormat = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.literal('text') }),
    z.object({ type: z.literal('json_object') }),
    z.object({ type: z.literal('json_schema'), json_schema: z.object({ schema: jsonSchema }) }),
  ],
  'must be of the type text, json_object or json_schema',
);

/**
 * The body of `POST /v1/chat/completions`, limited to the supported fields. Source:
 * https://platform.openai.com/docs/api-reference/chat/create
 */
const chatRequest = z.object({
  ...commonFields,
  messages: z.array(message, 'must be a list of messages').min(1, 'there is no message'),
  stream_options: z.object({ include_usage: flag }, 'must be an object').nullish(),
  n: z.literal(1, 'only one choice can be had').nullish(),
  response_format: responseFormat.nullish(),
});

/**
 * Parses the body of `POST /v1/chat/completions`.
 * @throws AdapterError INVALID_REQUEST, `details.field` names the field
 */
export const parseChatRequest = (body: unknown): CompletionRequest =>
  parseRequest(chatRequest, body, ({ messages, stream_options: options, response_format: format }) => ({
    messages: messages.map(toMessage),
    includesUsage: options?.include_usage === true,
    format: formatOf(
      'response_format',
      format?.type === 'json_schema' ? { type: format.type, schema: format.json_schema.schema } : format,
    ),
  }));

const ROLES: Readonly<Record<z.output<typeof message>['role'], LlmMessage['role']>> = {
  system: 'system',
  developer: 'system',
  user: 'user',
  assistant: 'assistant',
  tool: 'user',
  function: 'user',
};

function toMessage({ role, content, refusal }: z.output<typeof message>, index: number): LlmMessage {
  const parts = Array.isArray(content) ? content : [asText(content ?? refusal ?? '')];
  const texts = parts.map((part, at) => {
    if ('text' in part && typeof part.text === 'string') return part.text;
    throw invalid(
      `messages.${index}.content.${at}`,
      `a part of the type ${part.type} cannot be given to a tool; text can`,
    );
  });
  return { role: ROLES[role], content: texts.join('\n') };
}
