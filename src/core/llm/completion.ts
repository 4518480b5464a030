import { listOf, type JsonObject, numberOf, objectOf, textOf } from './json-events.js';
import { type LlmUsage, usageOf } from './usage.js';

/** Most characters of an unexpected answer that a message shows. */
const MAX_SHOWN = 200;

/** A service answered with something other than a chat completion of OpenAI's API, whatever its status was. */
export class NoCompletionError extends Error {
  /** @param what description of the actual answer */
  constructor(what: string, options?: ErrorOptions) {
    super(`its answer is no chat completion: ${what}`, options);
    this.name = 'NoCompletionError';
  }
}

/** Content of a chat completion, or of one event of a streamed completion. */
export interface CompletionPart {
  /** Undefined in an event without a choice, such as the event with the token usage. */
  readonly choice: { readonly content: string; readonly finishReason: string | undefined } | undefined;
  readonly choiceCount: number;
  readonly usage: LlmUsage | undefined;
  readonly model: string | null;
}

/** A chat completion that contains an answer. */
export type WholeCompletion = CompletionPart & { readonly choice: NonNullable<CompletionPart['choice']> };

/**
 * Parses a chat completion from raw JSON, because a service need not conform to the types of a client package.
 * @throws NoCompletionError
 */
export function readCompletion(body: unknown): WholeCompletion {
  const { choice, ...rest } = readPart(body, 'message');
  if (!choice) throw new NoCompletionError('it has no choices');
  return { choice, ...rest };
}

/** Converts the error of an unparsable answer into a `NoCompletionError`; returns other errors unchanged. */
export const explainUnreadable = (error: unknown): unknown =>
  error instanceof SyntaxError ? new NoCompletionError(`it is no JSON (${error.message})`, { cause: error }) : error;

/**
 * Parses one event of a streamed chat completion.
 * @throws NoCompletionError
 */
export const readCompletionEvent = (event: unknown): CompletionPart => readPart(event, 'delta');

function readPart(body: unknown, field: 'message' | 'delta'): CompletionPart {
  const { choices, usage, model } = objectOf(body);
  if (!Array.isArray(choices)) throw new NoCompletionError(`it has no list of choices, it is ${show(body)}`);
  const [first] = listOf(choices);
  const choice = first === undefined ? undefined : readChoice(objectOf(first), field);
  return { choice, choiceCount: choices.length, usage: readUsage(usage), model: textOf(model) ?? null };
}

/** A message with null content is empty. */
function readChoice(choice: JsonObject, field: 'message' | 'delta'): CompletionPart['choice'] {
  // The last event of a stream may have no message.
  const message = choice[field] ?? (field === 'delta' ? {} : undefined);
  const content = objectOf(message)['content'] ?? '';
  if (typeof message !== 'object' || typeof content !== 'string') {
    throw new NoCompletionError(`its choice has no ${field} with a text, it is ${show(choice)}`);
  }
  return { content, finishReason: textOf(choice['finish_reason']) };
}

function readUsage(value: unknown): LlmUsage | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const usage = objectOf(value);
  return usageOf({
    prompt: numberOf(usage['prompt_tokens']) ?? 0,
    completion: numberOf(usage['completion_tokens']) ?? 0,
    cached: numberOf(objectOf(usage['prompt_tokens_details'])['cached_tokens']),
    reasoning: numberOf(objectOf(usage['completion_tokens_details'])['reasoning_tokens']),
  });
}

const show = (value: unknown): string => {
  const text = typeof value === 'string' ? value.trim() : value === undefined ? '' : JSON.stringify(value);
  return text === '' ? 'empty' : text.slice(0, MAX_SHOWN);
};
