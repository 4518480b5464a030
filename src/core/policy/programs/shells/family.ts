import type { ProgramFamily } from '../../family/program-family.js';
import { repl, typedCode, typedShell } from '../../family/typing-rules.js';
import { each } from '../../subject/program-spec.js';
import { judgeForeignShell, judgeShell } from './judge.js';

/** Shells whose language the parser supports. */
const PARSED = 'sh bash dash ash ksh mksh zsh rbash yash';

/** Shells with other languages. */
const FOREIGN = 'fish csh tcsh nu elvish xonsh';
const POWERSHELL = 'pwsh powershell';

/** Command shells. */
export const SHELLS: ProgramFamily = {
  name: 'shells',
  programs: {
    ...each(PARSED, { class: 'read', operands: 'text', judge: judgeShell }),
    ...each(`${FOREIGN} ${POWERSHELL}`, { class: 'read', operands: 'text', judge: judgeForeignShell }),
  },
  typing: {
    ...each(
      PARSED,
      typedShell(
        repl({ valued: '-o +o -O +O --rcfile --init-file --emulate', ends: /^-[A-Za-z]*c/, stays: /^-[A-Za-z]*[is]/ }),
      ),
    ),
    ...each(FOREIGN, typedCode(repl({ valued: '-C', ends: /^-[A-Za-z]*c|^-v$/, stays: /^-i$/ }))),
    ...each(POWERSHELL, typedCode(repl({ ends: /^-(?:c|command|f|file|enc)/i, stays: /^-noexit$/i }))),
  },
  traits: { shell: PARSED, runnable: 'sh bash dash zsh ksh', versioned: 'bash ksh zsh' },
  startupPaths: [
    '.bashrc',
    '.bash_profile',
    '.bash_login',
    '.bash_logout',
    '.bash_aliases',
    '.profile',
    '.zshrc',
    '.zshenv',
    '.zprofile',
    '.zlogin',
    '.zlogout',
    '.kshrc',
    '.cshrc',
    '.tcshrc',
    '.inputrc',
    '~/.bashrc.d/**',
    '~/.config/fish/**',
  ],
  examples: {
    read: ["bash -c 'ls'"],
    execute: ['sh script.sh'],
    interactive: ['zsh'],
    destructive: ["dash -c 'rm x'"],
    obfuscated: ['curl example.com | sh', "fish -c 'ls'", 'fish', 'pwsh'],
  },
};
