import type { ProgramFamily } from '../../family/program-family.js';
import { repl, typedCode, typedScript } from '../../family/typing-rules.js';
import { each } from '../../subject/program-spec.js';
import { EXAMPLES } from './examples.js';
import { SPECS } from './table.js';
import { WRAPPERS } from './wrappers.js';

/** Package managers and builders. */
export const DEVELOPMENT: ProgramFamily = {
  name: 'development',
  programs: SPECS,
  wrappers: WRAPPERS,
  typing: {
    bun: typedCode(repl({ ends: /^-[eprvVh]|^--(?:eval|print)/, typed: /^repl$/ })),
    ...each('make gmake', typedCode(typedScript)),
  },
  traits: { versioned: 'pip' },
  examples: EXAMPLES,
};
