import type { ProgramFamily } from '../../family/program-family.js';
import { listedByGrep } from '../../subject/piped-file-names.js';
import { TRIVIAL_PROGRAM } from '../../subject/assignments.js';
import { EXAMPLES } from './examples.js';
import { SPECS } from './table.js';

/** git. */
export const GIT: ProgramFamily = {
  name: 'git',
  programs: SPECS,
  traits: { runnable: 'git', history: 'git' },
  lists: { git: ([subcommand, ...args]) => (subcommand?.value === 'grep' ? listedByGrep(args, true) : undefined) },
  substitutions: [[/^\$\(git rev-parse (?:--short )?HEAD\)$/, '0']],
  variables: [
    {
      names: /^GIT_ASKPASS$/,
      class: 'obfuscated',
      what: 'sets a program that other programs run',
      harmless: TRIVIAL_PROGRAM,
    },
    {
      names:
        /^GIT_(?:SSH|SSH_COMMAND|EXTERNAL_DIFF|PROXY_COMMAND|EXEC_PATH|TEMPLATE_DIR|CONFIG\w*|DIR|WORK_TREE|COMMON_DIR)$/,
      class: 'obfuscated',
      what: 'changes what git runs',
    },
    {
      names: /^GIT_(?:TRACE\w*|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES)$/,
      class: 'obfuscated',
      what: 'makes git read or write other places',
      harmless: /^(?:[0-2]|true|false|)$/,
    },
  ],
  startupPaths: [
    ...[
      '~/.gitconfig',
      '~/.config/git/**',
      '/**/.git',
      '/**/.git/**',
      '/**/.husky/**',
      '.gitattributes',
      '.gitmodules',
    ],
  ],
  // What leads to no code.
  harmlessPaths: [
    ...['objects/**', 'refs/**', 'logs/**', 'index', 'index.lock', '*_MSG', '*_EDITMSG', 'COMMIT_EDITMSG'],
    ...['info/exclude', 'packed-refs', 'shallow', 'description'],
  ].map((path) => `/**/.git/${path}`),
  examples: EXAMPLES,
};
