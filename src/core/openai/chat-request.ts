import { z } from 'zod';

import { AdapterError } from '../errors.js';
import type { LlmMessage } from '../llm/messages.js';

const flag = z.boolean('must be true or false').nullish();
const text = z.string().refine((value) => !value.includes('\0'), 'must be a text without NUL');

const textPart = z.object({ type: z.literal('text'), text });
/** What a model has said instead of an answer is part of the conversation too. */
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

/**
 * The body of `POST /v1/chat/completions`, as far as it means something here.
 * Source: https://platform.openai.com/docs/api-reference/chat/create
 */
const chatRequest = z.object({
  model: z.string('must be the name of a model; GET /v1/models lists them'),
  messages: z.array(message, 'must be a list of messages').min(1, 'there is no message'),
  stream: flag,
  stream_options: z.object({ include_usage: flag }, 'must be an object').nullish(),
  n: z.literal(1, 'only one choice can be had').nullish(),
  /** Ours: whether the run gets a worktree of its own. */
  worktree: flag,
  /** Ours: whether the answer says what the run has changed in its worktree. */
  worktree_changes: flag,
});

/** What is asked. */
export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly LlmMessage[];
  readonly isStreamed: boolean;
  readonly includesUsage: boolean;
  /** Undefined for what the model's entry says. */
  readonly worktree: boolean | undefined;
  readonly reportsChanges: boolean;
  /** Fields that mean something to OpenAI and nothing here. */
  readonly ignored: readonly string[];
}

/** @throws AdapterError INVALID_REQUEST, `details.field` says where */
export function parseChatRequest(body: unknown): ChatRequest {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalid('', 'the body must be a JSON object, of the content type application/json');
  }
  const parsed = chatRequest.safeParse(body);
  if (!parsed.success) {
    const [{ path, message: why } = { path: [], message: 'it cannot be read' }] = parsed.error.issues;
    throw invalid(path.join('.'), why);
  }
  const { model, messages, stream, stream_options: streamOptions, worktree, worktree_changes } = parsed.data;
  const known = Object.keys(chatRequest.shape);
  return {
    model,
    messages: messages.map(toMessage),
    isStreamed: stream === true,
    includesUsage: streamOptions?.include_usage === true,
    worktree: worktree ?? undefined,
    reportsChanges: worktree_changes === true,
    ignored: Object.keys(body).filter((name) => !known.includes(name)),
  };
}

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

const invalid = (field: string, why: string): AdapterError =>
  new AdapterError('INVALID_REQUEST', field === '' ? why : `${field}: ${why}`, { details: { field } });
