import type { Answer, JsonObject } from '../../../core/llm/answer.js';
import { readClaudeEvent, readWholeMessage } from './claude-events.js';
import { type CliDriver, flagged } from './driver.js';

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
  systemArgs: undefined,
  structured: undefined,
  // It always reads the file.
  agentFileArgs: [],
  env: {},
  variables: ['CURSOR_*'],
  readEvent,
  exitKinds: {},
};

function readEvent(event: JsonObject, answer: Answer): void {
  if (event['type'] === 'assistant') readWholeMessage(event, answer);
  readClaudeEvent(event, answer);
}
