import { type JsonObject, numberOf, objectOf, textOf } from '../../../core/json.js';
import { type Answer, type LlmUsage, usageOf } from '../../../core/llm/answer.js';
import { kindOfError } from '../../../core/llm/failure.js';
import { type CliDriver, flagged, readServiceError, SCHEMA_FILE } from './driver.js';

/* Tools that print whole messages, never pieces of them. */

export const codex: CliDriver = {
  name: 'codex',
  binaries: ['codex'],
  args: ['exec', '--json', '--color', 'never', '--skip-git-repo-check', '-'],
  access: {
    read: { args: ['-s', 'read-only'] },
    write: { args: ['-s', 'workspace-write'] },
    full: { args: ['-s', 'danger-full-access'] },
  },
  promptBy: 'stdin',
  promptStyle: 'labelled',
  promptLimit: { max: 1024 * 1024, unit: 'characters' },
  modelArgs: flagged('-m'),
  // The value is TOML, whose quoted strings are compatible with JSON.
  systemArgs: (text) => ['-c', `developer_instructions=${JSON.stringify(text)}`],
  // OpenAI's service rejects schemas with unspecified fields.
  structured: { args: () => ['--output-schema', SCHEMA_FILE], takesAnyObject: false },
  agentFileArgs: ['-c', 'project_doc_max_bytes=0'],
  variables: ['OPENAI_*', 'CODEX_*', 'AZURE_OPENAI_*'],
  readEvent: readCodexEvent,
};

/** An event or item of the type `error` is a warning, such as a reconnect; `turn.failed` is the end. */
function readCodexEvent(event: JsonObject, answer: Answer): void {
  const item = objectOf(event['item']);
  if (event['type'] === 'thread.started') answer.session = textOf(event['thread_id']);
  else if (event['type'] === 'item.completed' && item['type'] === 'agent_message') {
    answer.message(textOf(item['text']) ?? '');
  } else if (event['type'] === 'turn.completed') {
    answer.usage = readTurnUsage(objectOf(event['usage']));
    answer.finish();
  } else if (event['type'] === 'turn.failed') {
    const { message, kind } = readServiceError(textOf(objectOf(event['error'])['message']) ?? 'the turn failed');
    answer.fail(message, kind);
  }
}

/** Usage of all requests of the thread together; cached tokens are part of the input. */
const readTurnUsage = (usage: JsonObject): Answer['usage'] =>
  usageOf({
    prompt: numberOf(usage['input_tokens']) ?? 0,
    completion: numberOf(usage['output_tokens']) ?? 0,
    cached: numberOf(usage['cached_input_tokens']),
    reasoning: numberOf(usage['reasoning_output_tokens']),
  });

/**
 * Its own default lets the model run commands. A permission that is neither allowed nor denied would make it wait for
 * an answer indefinitely.
 */
const permissions = (edit: 'allow' | 'deny', rest: 'allow' | 'deny') => {
  const permission = { edit, bash: rest, webfetch: rest, external_directory: rest, doom_loop: rest };
  return { args: [], env: { OPENCODE_CONFIG_CONTENT: JSON.stringify({ permission }) } };
};

/** OpenCode. It starts slowly. Models are `provider/model`. */
export const opencode: CliDriver = {
  name: 'opencode',
  binaries: ['opencode'],
  // Without a title it requests one from a model.
  args: ['run', '--format', 'json', '--title', 'llm_call'],
  access: {
    read: permissions('deny', 'deny'),
    write: permissions('allow', 'deny'),
    full: permissions('allow', 'allow'),
  },
  promptBy: 'stdin',
  promptStyle: 'labelled',
  promptLimit: { max: 8 * 1024 * 1024, unit: 'bytes' },
  modelArgs: flagged('-m'),
  // It always reads the file.
  agentFileArgs: [],
  env: {
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  },
  // It supports many services.
  variables: ['OPENCODE_*', 'ANTHROPIC_*', 'OPENAI_*', 'GEMINI_*', 'GOOGLE_*', 'GITHUB_TOKEN', 'OPENROUTER_API_KEY'],
  readEvent: readOpencodeEvent,
};

/** Reasons of a run's last step. */
const ENDS: ReadonlySet<string> = new Set(['stop', 'length', 'content-filter']);

function readOpencodeEvent(event: JsonObject, answer: Answer): void {
  answer.session ??= textOf(event['sessionID']);
  const part = objectOf(event['part']);
  if (event['type'] === 'text') answer.message(textOf(part['text']) ?? '');
  else if (event['type'] === 'step_finish') {
    answer.usage = addStep(answer.usage, part);
    if (ENDS.has(textOf(part['reason']) ?? '')) answer.finish();
  } else if (event['type'] === 'error') readError(objectOf(event['error']), answer);
}

function readError(error: JsonObject, answer: Answer): void {
  const data = objectOf(error['data']);
  const status = numberOf(data['statusCode']);
  const name = textOf(error['name']);
  const why = textOf(data['message']) ?? name ?? 'it ended with an error';
  answer.fail(status === undefined ? why : `${why} (status ${status})`, kindOfError({ status, code: name }));
}

function addStep(before: LlmUsage | undefined, part: JsonObject): LlmUsage {
  const tokens = objectOf(part['tokens']);
  const cache = objectOf(tokens['cache']);
  const count = (value: unknown) => numberOf(value) ?? 0;
  const sum = (soFar: number | undefined, more: number) => (soFar ?? 0) + more;
  const read = count(cache['read']);
  const reasoning = count(tokens['reasoning']);
  return usageOf({
    prompt: sum(before?.prompt_tokens, count(tokens['input'])) + read + count(cache['write']),
    completion: sum(before?.completion_tokens, count(tokens['output'])) + reasoning,
    cached: sum(before?.cached_tokens, read),
    reasoning: sum(before?.reasoning_tokens, reasoning),
    costUsd: sum(before?.cost_usd, count(part['cost'])),
  });
}
