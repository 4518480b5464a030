import type { ProgramFamily } from '../../family/program-family.js';
import { typedCode, unless } from '../../family/typing-rules.js';
import { listedByGrep } from '../../subject/piped-file-names.js';
import { each } from '../../subject/program-spec.js';
import type { KnownOutput, ListedNames } from '../../words/program-knowledge.js';
import { EXAMPLES } from './examples.js';
import { SPECS } from './table.js';

/** `cat` without operands prints its input. */
const copied: KnownOutput = ({ args, stdin }) =>
  args.length === 0 && stdin?.kind === 'text' && stdin.isCertain ? stdin.text : undefined;

/** `rg` skips hidden directories unless options say otherwise. */
const listedByRipgrep: ListedNames = (args) =>
  args.some(({ shape }) => /^(?:-\.|-u+|--hidden|--unrestricted|--no-ignore)/.test(shape))
    ? undefined
    : listedByGrep(args, true);

/** Programs that only read. */
export const READING: ProgramFamily = {
  name: 'reading',
  programs: SPECS,
  typing: {
    ...each('bc dc', typedCode(unless(/^-[evhV]$|^--expression/))),
    ...each('less more most', typedCode(unless(/^-V$/), 'screen')),
  },
  traits: {
    metadata: 'ls dir stat df du lsblk blkid file realpath readlink findmnt lsof fuser getfacl basename dirname',
  },
  outputs: { cat: copied },
  lists: { ...each('grep egrep fgrep', (args) => listedByGrep(args, false)), rg: listedByRipgrep },
  substitutions: [
    [/^\$\(date(?: -u)?(?: -I\w*| (["']?)\+%[\w%:.@+-]+\1)\)$/, '0'],
    [/^\$\(seq(?: -w)?(?: \d+){1,3}\)$/, '0'],
    [/^\$\((?:nproc|whoami|uuidgen|hostname(?: -s)?|id -un?|uname -[msr])\)$/, '0'],
  ],
  variables: [
    {
      names: /^(?:LESS|MORE)$/,
      class: 'obfuscated',
      what: 'adds options to a pager',
      harmless: /^[-FRSXMmINQiqerx0-9 ]*$/,
    },
    { names: /^LESS(?:OPEN|CLOSE|KEY\w*|EDIT)$/, class: 'obfuscated', what: 'sets a program that other programs run' },
    {
      names: /^(?:GREP_OPTIONS|RIPGREP_CONFIG_PATH|MANOPT|FZF_DEFAULT_OPTS)$/,
      class: 'obfuscated',
      what: 'adds options to a program',
    },
  ],
  commandVariables: /^FZF_(?:DEFAULT|CTRL_T|ALT_C)_COMMAND$/,
  examples: EXAMPLES,
};
