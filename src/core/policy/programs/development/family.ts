import type { ProgramFamily } from '../../family/program-family.js';
import { typedCode, typedScript } from '../../family/typing-rules.js';
import { each } from '../../subject/program-spec.js';
import { SPECS } from './table.js';
import { WRAPPERS } from './wrappers.js';

/** Package managers and builders. */
export const DEVELOPMENT: ProgramFamily = {
  name: 'development',
  programs: SPECS,
  wrappers: WRAPPERS,
  typing: each('make gmake', typedCode(typedScript)),
  traits: { versioned: 'pip' },
  examples: {},
};
