import { type Answer, type JsonObject, textOf } from '../../../core/llm/answer.js';
import { readClaudeEvent } from './claude-events.js';
import { type CliDriver, flagged } from './driver.js';

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
  readEvent,
  exitKinds: {},
};

function readEvent(event: JsonObject, answer: Answer): void {
  const result = textOf(event['result']);
  const isFailure = event['type'] === 'result' && result !== undefined && API_ERROR.test(result.trim());
  readClaudeEvent(isFailure ? { ...event, is_error: true } : event, answer);
}
