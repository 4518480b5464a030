import { type ProgramExamples, type ProgramFamily, typedCode, unless } from '../program-family.js';
import { each, valued } from '../subject/program-spec.js';

/** Commands of this family, by class. */
const EXAMPLES: ProgramExamples = {
  write: ['vim --version'],
  interactive: ['vim x', 'nano x', 'emacs x', 'ex x', 'kak x'],
  obfuscated: ["ex -c '!rm x'", 'emacs --batch --eval x'],
};

/** Editors of text: they run commands that are typed, or that their options and input give them. */
export const EDITORS: ProgramFamily = {
  name: 'editors',
  programs: {
    ...each('vi vim nvim view ex rvim gvim vimdiff', {
      class: 'write',
      options: { ...each('-c --cmd -S -s -u -U -W -w -l -es --listen', { value: 'code' }), ...valued('-t -T -i') },
      operands: 'write',
      judge: (subject) => {
        const { args, command, program } = subject;
        const isLineEditor = program === 'ex' || args.some(({ shape }) => /^-[a-zA-Z]*[eE]/.test(shape));
        if (isLineEditor && command.stdin) subject.add('obfuscated', 'an editor runs commands from its input');
        if (args.some(({ shape }) => /^\+\D/.test(shape))) subject.add('obfuscated', 'an editor runs commands');
      },
    }),
    ...each('emacs emacsclient kak', {
      class: 'execute',
      options: each('-e --eval --execute -l --load -f --funcall --script -x -batch --batch --insert', {
        value: 'code',
      }),
      operands: 'write',
    }),
    ...each('nano pico micro joe ed red', {
      class: 'write',
      operands: 'write',
      options: each('-s --speller -command', { value: 'shell', class: 'execute' }),
      judge: (subject) => {
        if (subject.command.stdin) subject.add('obfuscated', 'an editor runs commands from its input');
      },
    }),
  },
  typing: {
    ...each('ex ed red', typedCode(unless())),
    ...each('vim vi nvim view vimdiff rvim nano pico micro joe jed kak hx helix', typedCode(unless(), 'terminal')),
    ...each('emacs', typedCode(unless(/^--?batch$/), 'terminal')),
  },
  variables: [
    { names: /^(?:VIMINIT|EXINIT|NVIM_APPNAME)$/, class: 'obfuscated', what: 'makes an interpreter run other code' },
  ],
  startupPaths: [
    ...[
      '.vimrc',
      '.exrc',
      '.nvimrc',
      '.nvim.lua',
      '.gvimrc',
      '.dir-locals.el',
      '~/.emacs*',
      '~/.vim/**',
      '~/.config/nvim/**',
    ],
    ...['/**/.vscode/**', '/**/.idea/**', '/**/.zed/**', '/**/.fleet/**', '*.code-workspace', '~/.config/Code/**'],
    ...['/**/.devcontainer/**', '.devcontainer.json', '.gitpod.yml'],
  ],
  examples: EXAMPLES,
};
