import { type Answer, type JsonObject, numberOf, objectOf, textOf, usageOf } from '../../../core/llm/answer.js';
import { type CliDriver, flagged, readServiceError, SCHEMA_FILE } from './driver.js';

/** OpenAI Codex. It prints whole messages, never pieces of them. */
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
  env: {},
  variables: ['OPENAI_*', 'CODEX_*', 'AZURE_OPENAI_*'],
  readEvent,
  exitKinds: {},
};

/** An event or item of the type `error` is a warning, such as a reconnect; `turn.failed` is the end. */
function readEvent(event: JsonObject, answer: Answer): void {
  const item = objectOf(event['item']);
  if (event['type'] === 'thread.started') answer.session = textOf(event['thread_id']);
  else if (event['type'] === 'item.completed' && item['type'] === 'agent_message') {
    answer.message(textOf(item['text']) ?? '');
  } else if (event['type'] === 'turn.completed') {
    answer.usage = readUsage(objectOf(event['usage']));
    answer.finish();
  } else if (event['type'] === 'turn.failed') {
    const { message, kind } = readServiceError(textOf(objectOf(event['error'])['message']) ?? 'the turn failed');
    answer.fail(message, kind);
  }
}

/** Usage of all requests of the thread together; cached tokens are part of the input. */
const readUsage = (usage: JsonObject): Answer['usage'] =>
  usageOf({
    prompt: numberOf(usage['input_tokens']) ?? 0,
    completion: numberOf(usage['output_tokens']) ?? 0,
    cached: numberOf(usage['cached_input_tokens']),
    reasoning: numberOf(usage['reasoning_output_tokens']),
  });
