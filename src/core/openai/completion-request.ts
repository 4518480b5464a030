import { z } from 'zod';

import { AdapterError } from '../errors.js';
import { isMapping, type JsonObject, objectOf, textOf } from '../json.js';
import type { AnswerFormat, LlmUsage } from '../llm/answer.js';
import type { LlmMessage } from '../llm/messages.js';
import type { OpenAiError } from './failure.js';

/** The form of the answer that a request asks for. */
export interface RequestedFormat extends AnswerFormat {
  /** Path of the field that asks for it, for messages. */
  readonly field: string;
}

/** A request for a completion, from either of OpenAI's two APIs. */
export interface CompletionRequest {
  readonly model: string;
  readonly messages: readonly LlmMessage[];
  readonly isStreamed: boolean;
  /** Whether a stream of chat completions ends with the token usage. */
  readonly includesUsage: boolean;
  /** Undefined for text. */
  readonly format: RequestedFormat | undefined;
  /** Undefined for the setting in the model's entry. */
  readonly worktree: boolean | undefined;
  /** Whether the answer lists the changes of the run in its worktree. */
  readonly reportsChanges: boolean;
  /** Fields that OpenAI defines and this endpoint ignores. */
  readonly ignored: readonly string[];
}

/** True, false, null or absent. */
export const flag = z.boolean('must be true or false').nullish();

/** A text without NUL, which tools accept as an argument. */
export const text = z.string().refine((value) => !value.includes('\0'), 'must be a text without NUL');

/** The fields that both APIs share; `worktree` and `worktree_changes` are extensions of this endpoint. */
export const commonFields = {
  model: z.string('must be the name of a model; GET /v1/models lists them'),
  stream: flag,
  /** Whether the run gets a separate worktree. */
  worktree: flag,
  /** Whether the answer lists the changes of the run in its worktree. */
  worktree_changes: flag,
};

/** Largest JSON Schema, in bytes: some tools take it as one argument, whose size Linux limits. */
const MAX_SCHEMA_BYTES = 100_000;

export const jsonSchema = z
  .record(z.string(), z.unknown(), 'must be a JSON Schema')
  .refine(
    (schema) => new TextEncoder().encode(JSON.stringify(schema)).length <= MAX_SCHEMA_BYTES,
    `must have at most ${MAX_SCHEMA_BYTES} bytes`,
  );

/** A format of an answer, as both APIs write it. */
type WrittenFormat =
  | { readonly type: 'text' | 'json_object' }
  | { readonly type: 'json_schema'; readonly schema: JsonObject };

/**
 * Reads the format that a field asks for; undefined for text. With `json_object` any JSON object is valid.
 * @param field its path, for messages
 */
export function formatOf(field: string, format: WrittenFormat | null | undefined): RequestedFormat | undefined {
  if (format?.type === 'json_object') return { schema: { type: 'object' }, isAnyObject: true, field };
  return format?.type === 'json_schema' ? { schema: format.schema, isAnyObject: false, field } : undefined;
}

type CommonFields = z.output<z.ZodObject<typeof commonFields>>;

/**
 * Parses the body of a request.
 * @param read what the two APIs have in fields of their own
 * @throws AdapterError INVALID_REQUEST, `details.field` names the field
 */
export function parseRequest<Fields extends CommonFields>(
  schema: z.ZodType<Fields> & { readonly shape: object },
  body: unknown,
  read: (fields: Fields) => Partial<CompletionRequest> & { readonly messages: readonly LlmMessage[] },
): CompletionRequest {
  const fields = parseBody(schema, body);
  assertNoToolNeeded(body);
  return {
    model: fields.model,
    isStreamed: fields.stream === true,
    includesUsage: true,
    format: undefined,
    worktree: fields.worktree ?? undefined,
    reportsChanges: fields.worktree_changes === true,
    ignored: Object.keys(objectOf(body)).filter((name) => !Object.hasOwn(schema.shape, name)),
    ...read(fields),
  };
}

function parseBody<Fields>(schema: z.ZodType<Fields>, body: unknown): Fields {
  if (!isMapping(body)) {
    throw invalid('', 'the body must be a JSON object, of the content type application/json');
  }
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const [{ path, message } = { path: [], message: 'it cannot be read' }] = parsed.error.issues;
  throw invalid(path.join('.'), message);
}

/**
 * Rejects a request that cannot be answered without calling a tool of the client. With `tool_choice: "auto"` a model
 * may answer in words, and the models here always do.
 * @throws AdapterError INVALID_REQUEST
 */
function assertNoToolNeeded(body: unknown): void {
  const fields = objectOf(body);
  for (const field of ['tool_choice', 'function_call']) {
    if (!needsTool(fields[field])) continue;
    const instead = 'for an answer in a given form use a json_schema response format';
    throw invalid(field, `the models here run tools of their own and cannot call those of a request; ${instead}`);
  }
}

function needsTool(choice: unknown): boolean {
  if (choice === undefined || choice === null || choice === 'auto' || choice === 'none') return false;
  const { type, mode, allowed_tools: allowed }: JsonObject = objectOf(choice);
  if (type !== 'allowed_tools') return true;
  return (textOf(mode) ?? textOf(objectOf(allowed)['mode'])) === 'required';
}

/**
 * The error of a request that cannot be answered.
 * @param field dotted path; empty for the whole body
 */
export const invalid = (field: string, why: string): AdapterError =>
  new AdapterError('INVALID_REQUEST', field === '' ? why : `${field}: ${why}`, { details: { field } });

/** The changes of a run in its worktree, in wire format. */
export interface WorktreeReport {
  readonly changes: readonly { readonly path: string; readonly status: string }[];
  readonly patch: string;
  /** Why some changes may be missing. */
  readonly warning?: string;
}

export interface CompletionAnswer {
  readonly content: string;
  /** Undefined when the tool reports none. */
  readonly usage: LlmUsage | undefined;
  /** An extension of this endpoint; undefined unless it was requested. */
  readonly worktree: WorktreeReport | undefined;
}

/** What a streamed answer consists of: `begun` is first, `done` or `failed` last. */
export type AnswerEvent =
  | { readonly type: 'begun' }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'done'; readonly answer: CompletionAnswer }
  | { readonly type: 'failed'; readonly error: OpenAiError };

/** What all objects of one answer share. */
export interface AnswerFrame {
  /** Unique. */
  readonly id: string;
  /** In seconds since 1970. */
  readonly created: number;
  readonly model: string;
}

/** Encodes one answer for one of OpenAI's APIs. */
export interface AnswerEncoder {
  /** Whether `[DONE]` follows the last event. */
  readonly hasDoneMark: boolean;
  /** The whole answer as one object. */
  whole(answer: CompletionAnswer): object;
  /** The objects to stream for an event. */
  encode(event: AnswerEvent): readonly object[];
}
