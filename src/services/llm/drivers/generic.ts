import type { CliDriver } from './driver.js';

/** Any other tool: it reads the prompt on standard input and prints the answer. The configuration defines the rest. */
export const generic: CliDriver = {
  name: 'generic',
  binaries: [],
  args: [],
  access: undefined,
  promptBy: 'stdin',
  promptStyle: 'plain',
  promptLimit: { max: 16 * 1024 * 1024, unit: 'bytes' },
  modelArgs: undefined,
  systemArgs: undefined,
  structured: undefined,
  agentFileArgs: undefined,
  env: {},
  variables: [],
  readEvent: undefined,
  exitKinds: {},
};
