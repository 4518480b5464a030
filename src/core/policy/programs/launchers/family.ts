import type { ProgramFamily } from '../../family/program-family.js';
import { typedShell, unless } from '../../family/typing-rules.js';
import { EXAMPLES } from './examples.js';
import { WRAPPERS } from './wrappers.js';

/** Programs that run another program, and change only its circumstances: time, priority, input, environment. */
export const LAUNCHERS: ProgramFamily = {
  name: 'launchers',
  wrappers: WRAPPERS,
  typing: { script: typedShell(unless(/^(?:-[a-z]*c|--command.*)$/)) },
  traits: { runnable: 'xargs env' },
  examples: EXAMPLES,
};
