import type { ShellProviderSettings } from '../../src/core/llm/settings.js';

/** Settings of a shell provider of which the configuration says only this. */
export const shellSettings = (written: Partial<ShellProviderSettings> = {}): ShellProviderSettings => ({
  driver: undefined,
  command: undefined,
  args: undefined,
  promptFlag: undefined,
  modelFlag: undefined,
  systemFlag: undefined,
  stdinMode: 'pipe',
  model: undefined,
  timeoutMs: undefined,
  idleTimeoutMs: undefined,
  output: 'auto',
  promptStyle: undefined,
  maxPromptBytes: undefined,
  concurrency: undefined,
  env: {},
  ...written,
});
