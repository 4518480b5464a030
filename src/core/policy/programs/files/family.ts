import type { ProgramFamily } from '../../family/program-family.js';
import { typedCode, typedScript, unless } from '../../family/typing-rules.js';
import { each } from '../../subject/program-spec.js';
import { TEMPORARY } from '../../words/variables/variables.js';
import { EXAMPLES } from './examples.js';
import { foundBelow } from './find.js';
import { SPECS } from './table.js';

/** Programs that create, change, move, pack or delete files, or that search for files. */
export const FILES: ProgramFamily = {
  name: 'files',
  programs: SPECS,
  typing: {
    ...each('sed gsed', typedCode(typedScript)),
    ...each('mc ranger nnn lf vifm', typedCode(unless(), 'terminal')),
  },
  traits: {
    runnable: 'rm rmdir unlink shred truncate dd find chmod chown mv tee',
    edits: 'sed',
    links: 'ln mv cp install tar bsdtar unzip cpio',
    unread: 'rm rmdir unlink touch chmod chown chgrp',
  },
  finds: each('find gfind', foundBelow),
  substitutions: [[/^\$\(mktemp(?: -[dq])*\)$/, TEMPORARY]],
  variables: [{ names: /^(?:TAR_OPTIONS|ZIPOPT)$/, class: 'obfuscated', what: 'adds options to a program' }],
  examples: EXAMPLES,
};
