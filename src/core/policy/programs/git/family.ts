import type { ProgramFamily } from '../../family/program-family.js';
import { listedByGrep } from '../../subject/piped-file-names.js';
import { EXAMPLES } from './examples.js';
import { SPECS } from './table.js';

/** git. */
export const GIT: ProgramFamily = {
  name: 'git',
  programs: SPECS,
  traits: { runnable: 'git' },
  lists: { git: ([subcommand, ...args]) => (subcommand?.value === 'grep' ? listedByGrep(args, true) : undefined) },
  substitutions: [[/^\$\(git rev-parse (?:--short )?HEAD\)$/, '0']],
  examples: EXAMPLES,
};
