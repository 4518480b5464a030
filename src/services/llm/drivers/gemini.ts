import { type JsonObject, numberOf, objectOf, textOf } from '../../../core/json.js';
import { type Answer, usageOf } from '../../../core/llm/answer.js';
import { type CliDriver, flagged, readServiceError } from './driver.js';

/** Gemini CLI. Without a terminal it offers the model no tools that change anything. */
export const gemini: CliDriver = {
  name: 'gemini',
  binaries: ['gemini'],
  args: ['-o', 'stream-json'],
  // Its events repeat the prompt, and at its exit it drops what the pipe has not taken: the answer, if the reader is
  // slow.
  largePrompt: { aboveBytes: 16 * 1024, args: ['-o', 'json'] },
  access: {
    read: { args: [] },
    write: { args: ['--approval-mode', 'auto_edit'] },
    full: { args: ['--approval-mode', 'yolo'] },
  },
  promptBy: 'stdin',
  promptStyle: 'labelled',
  // It truncates a longer prompt, and gives no answer.
  promptLimit: { max: 8 * 1024 * 1024, unit: 'bytes' },
  modelArgs: flagged('-m'),
  env: {
    // Otherwise it refuses an unknown directory.
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
    GEMINI_CLI_NO_RELAUNCH: 'true',
  },
  variables: ['GEMINI_*', 'GOOGLE_*', 'CLOUDSDK_*'],
  readEvent,
  // Its own codes are 41 to 55; for errors of the service, the lower byte of the status: 401, 429.
  exitKinds: { 41: 'auth', 145: 'auth', 173: 'rate_limited' },
};

function readEvent(event: JsonObject, answer: Answer): void {
  answer.session ??= textOf(event['session_id']);
  const { type } = event;
  if (type === 'init') answer.model = textOf(event['model']);
  else if (type === 'tool_use') answer.beginMessage();
  else if (type === 'message' && event['role'] === 'assistant') {
    if (event['delta'] !== true) answer.beginMessage();
    answer.delta(textOf(event['content']) ?? '');
  } else if (type === 'result') readResult(event, answer);
  else if (type === undefined) readDocument(event, answer);
}

function readResult(event: JsonObject, answer: Answer): void {
  const stats = objectOf(event['stats']);
  const prompt = numberOf(stats['input_tokens']);
  if (prompt !== undefined) {
    const completion = numberOf(stats['output_tokens']) ?? 0;
    answer.usage = usageOf({ prompt, completion, cached: numberOf(stats['cached']) });
  }
  if (event['status'] === 'error') failWith(event, answer);
  else answer.finish();
}

/** Reads the output of `-o json`: one object, sometimes with an error beside the response. */
function readDocument(event: JsonObject, answer: Answer): void {
  if (event['error'] !== undefined) {
    failWith(event, answer);
    return;
  }
  const text = textOf(event['response']);
  if (text === undefined) return;
  const counts = Object.values(objectOf(objectOf(event['stats'])['models'])).map((model) =>
    objectOf(objectOf(model)['tokens']),
  );
  const sum = (key: string) => counts.reduce((total, tokens) => total + (numberOf(tokens[key]) ?? 0), 0);
  if (counts.length > 0) {
    const [completion, reasoning] = [sum('candidates') + sum('thoughts'), sum('thoughts')];
    answer.usage = usageOf({ prompt: sum('prompt'), completion, cached: sum('cached'), reasoning });
  }
  answer.finish(text);
}

/** The document's `code` is the exit code; a service's own error is JSON in the message. */
function failWith(event: JsonObject, answer: Answer): void {
  const error = objectOf(event['error']);
  const { message, kind } = readServiceError(textOf(error['message']) ?? '');
  const why = [textOf(error['type']), message].filter(Boolean).join(': ');
  answer.fail(why || 'it ended with an error', kind);
}
