import type { ProgramFamily } from '../../family/program-family.js';
import { RUNTIME_OPTIONS } from '../../subject/assignments.js';
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
  variables: [
    {
      names:
        /^(?:PERL5OPT|PERL5LIB|PERL5DB|PERLLIB|RUBYOPT|RUBYLIB|PYTHONSTARTUP|PYTHONHOME|PYTHONINSPECT|PYTHONBREAKPOINT|LUA_INIT\w*|LUA_C?PATH\w*|ERL_\w*FLAGS|ELIXIR_ERL_OPTIONS|PHPRC|PHP_INI_SCAN_DIR|R_(?:PROFILE|ENVIRON|HOME)\w*|JULIA_LOAD_PATH|PYTHONUSERBASE|NODE_REPL_EXTERNAL_MODULE|AWK(?:LIB)?PATH|GOROOT|GOTOOLDIR)$/,
      class: 'obfuscated',
      what: 'makes an interpreter run other code',
    },
    {
      names: /^(?:NODE_OPTIONS|npm_config_node[-_]options|BUN_OPTIONS)$/i,
      class: 'obfuscated',
      what: 'makes an interpreter run other code',
      harmless: RUNTIME_OPTIONS,
    },
  ],
  startupPaths: ['.gdbinit', '.lldbinit', '.irbrc', '.pryrc', '.Rprofile', '~/.pythonrc*', '~/.config/gdb/**'],
  examples: EXAMPLES,
};
