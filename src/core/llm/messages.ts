import { type JsonObject, listOf, numberOf, objectOf, textOf } from '../json.js';
import { type LlmUsage, usageOf } from './answer.js';
import type { PromptStyle } from './settings.js';

export interface LlmMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** The prompt for a tool, and the system prompt where the tool accepts a separate one. */
interface ComposedPrompt {
  readonly prompt: string;
  readonly system: string | undefined;
}

const SEPARATOR = '\n\n';

const PREFIXES: Readonly<Record<PromptStyle, Readonly<Record<LlmMessage['role'], string>>>> = {
  plain: { system: 'System: ', user: '', assistant: 'Assistant: ' },
  labelled: { system: 'SYSTEM: ', user: 'USER: ', assistant: 'ASSISTANT: ' },
};

/**
 * Combines a conversation into one prompt. `plain` leaves the users' texts unchanged and keeps the order; `labelled`
 * puts the role before each message, the system messages first. A single question is unchanged in either style.
 * @param takesSystem whether the tool accepts a separate system prompt; otherwise it is the prompt's beginning
 */
export function composePrompt(
  messages: readonly LlmMessage[],
  style: PromptStyle,
  takesSystem: boolean,
): ComposedPrompt {
  const systems = messages.filter(({ role }) => role === 'system');
  const dialogue = messages.filter(({ role }) => role !== 'system');
  const isSeparate = takesSystem && systems.length > 0;
  const system = isSeparate ? join(systems.map(({ content }) => content)) : undefined;
  const inline = isSeparate ? dialogue : style === 'plain' ? messages : [...systems, ...dialogue];
  const [only] = inline;
  if (inline.length === 1 && only?.role === 'user') return { prompt: only.content, system };
  return { prompt: join(inline.map(({ role, content }) => PREFIXES[style][role] + content)), system };
}

const join = (texts: readonly string[]): string => texts.join(SEPARATOR);

const TASK_HEADING = '--- USER TASK ---';

/**
 * The prompt of a run in a repository: its agent instructions, then the task. System messages precede the others, which
 * are labelled only if they include messages of an assistant.
 * @param instructions content of the agent file; undefined for none
 */
export function taskPrompt(instructions: string | undefined, messages: readonly LlmMessage[]): string {
  const systems = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  // A message in which a model has only called tools contains no text.
  const dialogue = messages.filter(({ role, content }) => role !== 'system' && content !== '');
  const isConversation = dialogue.some(({ role }) => role === 'assistant');
  const turns = dialogue.map(({ role, content }) => (isConversation ? `${role.toUpperCase()}: ${content}` : content));
  const task = [...systems, ...turns].join(SEPARATOR);
  return instructions === undefined ? task : `${instructions.trimEnd()}${SEPARATOR}${TASK_HEADING}\n${task}`;
}

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
