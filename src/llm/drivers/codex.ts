import type { Answer } from '../../core/llm/answer.js';
import { type JsonObject, numberOf, objectOf, textOf } from '../../core/llm/json-events.js';
import { usageOf } from '../../core/llm/usage.js';
import { type CliDriver, flagged } from './driver.js';

/** OpenAI Codex. It prints whole messages, never pieces of them. */
export const codex: CliDriver = {
  name: 'codex',
  binaries: ['codex'],
  args: ['exec', '--json', '--color', 'never', '--skip-git-repo-check', '-s', 'read-only', '-'],
  promptBy: 'stdin',
  promptStyle: 'labelled',
  promptLimit: { max: 1024 * 1024, unit: 'characters' },
  modelArgs: flagged('-m'),
  // The value is TOML, whose quoted texts are those of JSON.
  systemArgs: (text) => ['-c', `developer_instructions=${JSON.stringify(text)}`],
  agentFileArgs: ['-c', 'project_doc_max_bytes=0'],
  env: {},
  variables: ['OPENAI_*', 'CODEX_*', 'AZURE_OPENAI_*'],
  readEvent,
  exitKinds: {},
};

/** An event or item of the type `error` is a warning, such as that it connects again; `turn.failed` is the end. */
function readEvent(event: JsonObject, answer: Answer): void {
  const item = objectOf(event['item']);
  if (event['type'] === 'thread.started') answer.session = textOf(event['thread_id']);
  else if (event['type'] === 'item.completed' && item['type'] === 'agent_message') {
    answer.message(textOf(item['text']) ?? '');
  } else if (event['type'] === 'turn.completed') {
    answer.usage = readUsage(objectOf(event['usage']));
    answer.finish();
  } else if (event['type'] === 'turn.failed') {
    answer.fail(readMessage(objectOf(event['error'])['message']));
  }
}

/** Of all requests of the thread together; the cached ones are among the input. */
const readUsage = (usage: JsonObject): Answer['usage'] =>
  usageOf({
    prompt: numberOf(usage['input_tokens']) ?? 0,
    completion: numberOf(usage['output_tokens']) ?? 0,
    cached: numberOf(usage['cached_input_tokens']),
    reasoning: numberOf(usage['reasoning_output_tokens']),
  });

/** The message of a failure may be the JSON that the service has sent. */
function readMessage(message: unknown): string {
  const text = textOf(message) ?? 'the turn failed';
  try {
    return textOf(objectOf(objectOf(JSON.parse(text))['error'])['message']) ?? text;
  } catch {
    // A SyntaxError: it is a message.
    return text;
  }
}
