import type { ProgramFamily } from '../../family/program-family.js';
import { EXAMPLES } from './examples.js';
import { SPECS } from './table.js';

/** Compilers, and tools of languages whose programs are built before they run. */
export const COMPILERS: ProgramFamily = {
  name: 'compilers',
  programs: SPECS,
  traits: { versioned: 'gcc clang java' },
  examples: EXAMPLES,
};
