import { type Answer, type JsonObject, listOf, numberOf, objectOf, textOf, usageOf } from '../../../core/llm/answer.js';
import { kindOfError } from '../../../core/llm/failure.js';
import { readServiceError } from './driver.js';

/*
 * The events that claude prints with `--output-format stream-json` (with json, only the last of them). qwen and
 * cursor-agent print the same events with small differences.
 */

/** Reads one event. `type` need not be its first key. */
export function readClaudeEvent(event: JsonObject, answer: Answer): void {
  answer.session ??= textOf(event['session_id']);
  // Messages of subagents are not part of the answer.
  if (event['parent_tool_use_id'] !== undefined && event['parent_tool_use_id'] !== null) return;
  if (event['type'] === 'stream_event') readDelta(objectOf(event['event']), answer);
  else if (event['type'] === 'system') answer.model ??= textOf(event['model']);
  else if (event['type'] === 'assistant') answer.failureHint = kindOfError({ code: textOf(event['error']) });
  else if (event['type'] === 'result') readResult(event, answer);
}

function readDelta(event: JsonObject, answer: Answer): void {
  if (event['type'] === 'message_start') answer.beginMessage();
  const delta = objectOf(event['delta']);
  if (event['type'] === 'content_block_delta' && delta['type'] === 'text_delta') {
    answer.delta(textOf(delta['text']) ?? '');
  }
}

/** Reads a whole message, for tools that print no pieces. */
export function readWholeMessage(event: JsonObject, answer: Answer): void {
  const parts = listOf(objectOf(event['message'])['content']).map(objectOf);
  const texts = parts.filter(({ type }) => type === 'text').map(({ text }) => textOf(text) ?? '');
  if (texts.length > 0) answer.message(texts.join(''));
}

/** `subtype` is unreliable: it is `success` for failures of the service too. */
function readResult(event: JsonObject, answer: Answer): void {
  const usage = objectOf(event['usage']);
  const cached = numberOf(usage['cache_read_input_tokens']);
  const input = numberOf(usage['input_tokens']);
  if (input !== undefined) answer.usage = readUsage(event, usage, input, cached);
  // With a JSON Schema the answer is an object; the model's other text is ignored.
  const structured = event['structured_output'];
  const text = structured === undefined ? textOf(event['result']) : JSON.stringify(structured);
  if (event['is_error'] !== true && text !== undefined) {
    answer.finish(text);
    return;
  }
  const errors = listOf(event['errors']).filter((entry) => typeof entry === 'string');
  const message = textOf(objectOf(event['error'])['message']);
  const status = numberOf(event['api_error_status']);
  const why = [text, message, ...errors].find(Boolean) ?? `it ended with ${textOf(event['subtype']) ?? 'no text'}`;
  const kind = kindOfError({ status }) ?? readServiceError(why).kind;
  answer.fail(status === undefined || why.includes(String(status)) ? why : `${why} (status ${status})`, kind);
}

function readUsage(event: JsonObject, usage: JsonObject, input: number, cached: number | undefined): Answer['usage'] {
  const created = numberOf(usage['cache_creation_input_tokens']) ?? 0;
  // qwen's events count cached tokens as input; claude's do not, and report the tokens added to the cache.
  const isInclusive = usage['cache_creation_input_tokens'] === undefined;
  return usageOf({
    prompt: isInclusive ? input : input + created + (cached ?? 0),
    completion: numberOf(usage['output_tokens']) ?? 0,
    cached,
    costUsd: numberOf(event['total_cost_usd']),
  });
}
