import { z } from 'zod';

import type { LlmMessage } from '../llm/messages.js';
import {
  ANY_OBJECT,
  assertNoToolNeeded,
  commonFields,
  type CompletionRequest,
  flag,
  invalid,
  jsonSchema,
  parseBody,
  type RequestedFormat,
  text,
  unknownFields,
} from './completion-request.js';

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
export function parseResponsesRequest(body: unknown): CompletionRequest {
  const parsed = parseBody(responsesRequest, body);
  assertNoToolNeeded(body);
  const { instructions, input } = parsed;
  const dialogue = typeof input === 'string' ? [{ role: 'user' as const, content: input }] : input.flatMap(readItem);
  return {
    model: parsed.model,
    messages: instructions ? [{ role: 'system', content: instructions }, ...dialogue] : dialogue,
    isStreamed: parsed.stream === true,
    includesUsage: true,
    format: toFormat(parsed.text?.format ?? undefined),
    worktree: parsed.worktree ?? undefined,
    reportsChanges: parsed.worktree_changes === true,
    ignored: unknownFields(body, responsesRequest),
  };
}

const FORMAT_FIELD = 'text.format';

function toFormat(format: z.output<typeof textFormat> | undefined): RequestedFormat | undefined {
  if (format?.type === 'json_object') return { ...ANY_OBJECT, field: FORMAT_FIELD };
  return format?.type === 'json_schema'
    ? { schema: format.schema, isAnyObject: false, field: FORMAT_FIELD }
    : undefined;
}

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
