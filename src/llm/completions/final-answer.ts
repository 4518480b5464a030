import { llmError } from '../../core/llm/failure.js';
import { lastBlock } from '../../core/llm/last-block.js';
import type { ModelSettings } from '../../core/llm/models.js';
import type { CompletionRequest } from '../../core/openai/completion-request.js';
import type { LlmReply } from '../call.js';

/** Longest excerpt of an invalid answer in an error, in characters. */
const MAX_DETAIL_CHARACTERS = 4096;

/** Extracts the answer from a tool's raw output. Streamed output cannot be changed any more. */
export function normalize(
  { content, isText }: LlmReply,
  { normalizer, driver }: ModelSettings,
  isStreamed: boolean,
): string {
  if (!isText || normalizer === 'full') return content;
  if (normalizer === 'structured') {
    const message = `${driver} has not marked its answer: its output is no JSON that its driver knows`;
    throw llmError('failed', message, { detail: content, exit_code: 0 });
  }
  return normalizer === 'auto' && isStreamed ? content : lastBlock(content);
}

/**
 * Checks that an answer is JSON: a tool may ignore the schema.
 * @throws AdapterError LLM_FAILED when it is not
 */
export function asJson({ content }: LlmReply, { driver }: ModelSettings): string {
  try {
    JSON.parse(content);
    return content;
  } catch (cause) {
    const message = `${driver} was held to a JSON Schema and has answered something else than JSON`;
    throw llmError('failed', message, { detail: content.slice(0, MAX_DETAIL_CHARACTERS), exit_code: 0 }, cause);
  }
}

/**
 * Whether the answer is only known at the end: in text the last block counts, and with JSON a tool's intermediate
 * messages are not part of it.
 */
export const isKnownAtEnd = ({ format }: CompletionRequest, { normalizer }: ModelSettings): boolean =>
  normalizer === 'last_block' || format !== undefined;
