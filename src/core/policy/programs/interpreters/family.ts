import type { ProgramFamily } from '../../family/program-family.js';
import { EXAMPLES } from './examples.js';
import { SPECS } from './table.js';
import { TYPING } from './typing.js';

/** Programs that run code of their own languages, and debuggers. */
export const INTERPRETERS: ProgramFamily = {
  name: 'interpreters',
  programs: SPECS,
  wrappers: { 'gdb --args': { class: 'execute' }, 'lldb --': { class: 'execute' } },
  typing: TYPING,
  traits: {
    runnable: 'python python3 perl ruby node php',
    versioned: 'python pypy ruby perl php lua luajit node tclsh awk',
    edits: 'perl',
  },
  examples: EXAMPLES,
};
