import { type JsonObject, listOf, numberOf, objectOf, textOf } from '../../../core/json.js';
import { type Answer, usageOf } from '../../../core/llm/answer.js';
import { kindOfError } from '../../../core/llm/failure.js';
import { type CliDriver, flagged, readServiceError } from './driver.js';

/*
 * Tools that print the events of claude's `--output-format stream-json` (with json, only the last of them): claude, and
 * with small differences qwen and cursor-agent.
 */

/** Claude Code. Without a login it reports that at once, on stdout. It retries a failing service silently. */
export const claude: CliDriver = {
  name: 'claude',
  binaries: ['claude'],
  // stream-json requires --verbose.
  args: ['-p', '--output-format', 'stream-json', '--verbose', '--include-partial-messages'],
  access: {
    // Without a terminal it refuses everything that needs a confirmation.
    read: { args: [] },
    write: { args: ['--permission-mode', 'acceptEdits'] },
    // As root it refuses this mode unless this variable states that it is intended.
    full: { args: ['--permission-mode', 'bypassPermissions'], env: { IS_SANDBOX: '1' } },
  },
  promptBy: 'stdin',
  promptStyle: 'labelled',
  promptLimit: { max: 10 * 1024 * 1024, unit: 'bytes' },
  modelArgs: flagged('--model'),
  systemArgs: flagged('--append-system-prompt'),
  structured: { args: flagged('--json-schema'), takesAnyObject: true },
  env: {
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    // The default is 10, with growing pauses: half a minute without output.
    CLAUDE_CODE_MAX_RETRIES: '2',
  },
  // Not CLAUDECODE and the like, which a daemon inherits when such a tool has started it.
  variables: [
    'ANTHROPIC_*',
    'CLAUDE_CONFIG_DIR',
    'CLAUDE_CODE_OAUTH_TOKEN',
    'CLAUDE_CODE_USE_*',
    'AWS_*',
    'IS_SANDBOX',
  ],
  readEvent: readClaudeEvent,
};

/** Form of a service failure that it reports as a successful result. */
const API_ERROR = /^\[API Error: [\s\S]*\]$/;

/** Qwen Code. It retries a failing service for minutes without output, so only the adapter's timeouts end it. */
export const qwen: CliDriver = {
  name: 'qwen',
  binaries: ['qwen'],
  args: ['-o', 'stream-json', '--include-partial-messages'],
  access: {
    read: { args: [] },
    write: { args: ['--approval-mode', 'auto-edit'] },
    full: { args: ['--approval-mode', 'yolo'] },
  },
  promptBy: 'stdin',
  promptStyle: 'labelled',
  // It truncates a longer prompt, and hangs.
  promptLimit: { max: 8 * 1024 * 1024, unit: 'bytes' },
  modelArgs: flagged('-m'),
  systemArgs: flagged('--append-system-prompt'),
  structured: { args: flagged('--json-schema'), takesAnyObject: true },
  agentFileArgs: ['--bare'],
  env: { QWEN_CODE_NO_RELAUNCH: 'true' },
  variables: ['OPENAI_*', 'QWEN_*', 'DASHSCOPE_*'],
  readEvent: readQwenEvent,
};

function readQwenEvent(event: JsonObject, answer: Answer): void {
  const result = textOf(event['result']);
  const isFailure = event['type'] === 'result' && result !== undefined && API_ERROR.test(result.trim());
  readClaudeEvent(isFailure ? { ...event, is_error: true } : event, answer);
}

/** Source: https://cursor.com/docs/cli/reference (parameters, output format). Newer builds are named `agent`. */
export const cursorAgent: CliDriver = {
  name: 'cursor-agent',
  binaries: ['cursor-agent', 'agent'],
  // The default of the output format differs between versions.
  args: ['-p', '--output-format', 'stream-json'],
  // With -p alone it may write and run commands.
  access: {
    read: { args: ['--mode', 'ask'] },
    write: { args: ['--force', '--sandbox', 'enabled'] },
    full: { args: ['--force', '--sandbox', 'disabled'] },
  },
  // Its documentation does not mention standard input.
  promptBy: 'argument',
  promptStyle: 'labelled',
  promptLimit: { max: 100_000, unit: 'bytes' },
  modelArgs: flagged('--model'),
  // It always reads the file.
  agentFileArgs: [],
  variables: ['CURSOR_*'],
  readEvent: readCursorEvent,
};

function readCursorEvent(event: JsonObject, answer: Answer): void {
  if (event['type'] === 'assistant') readWholeMessage(event, answer);
  readClaudeEvent(event, answer);
}

/** Reads one event. `type` need not be its first key. */
function readClaudeEvent(event: JsonObject, answer: Answer): void {
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
function readWholeMessage(event: JsonObject, answer: Answer): void {
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
