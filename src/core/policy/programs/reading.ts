import { type ProgramExamples, type ProgramFamily, typedCode, unless } from '../program-family.js';
import type { CommandAnalysis } from '../subject/command-analysis.js';
import { hasOption, parseArguments, tailOf } from '../subject/options.js';
import { GREP_OPTIONS, listedByGrep } from '../subject/listed-files.js';
import { each, type ProgramTable, valued } from '../subject/program-spec.js';
import { literal } from '../words/argument.js';
import type { KnownOutput, ListedNames } from '../words/program-knowledge.js';

/** Commands of this family, by class. */
const EXAMPLES: ProgramExamples = {
  read: [
    'ps aux',
    'getent passwd',
    'cat x',
    'pwd',
    'man ls',
    'bat x',
    'rg -l x src',
    'zgrep x y',
    'nm x',
    'fzf -q x',
    'ss -tlnp',
    'colordiff a b',
    'diff3 a b c',
    'du -s x',
    'tree -L 2',
    'shuf x',
    'yq . x',
    'sdiff a b',
    'top -b',
    'dmesg',
    'fuser x',
    'date +%s',
    'base64 -d x',
    'uniq a',
  ],
  write: ['xxd -r a b'],
  interactive: ['bc -l', 'less x'],
  destructive: ["rg --pre 'rm x' y", 'journalctl --vacuum-size=1M'],
  privilege: ['hostname x'],
  persistence: ['sort -o /etc/passwd x'],
  obfuscated: ["dc -e '!rm x'"],
};

/** How a program searches directories. */
interface Search {
  /** Arguments with which it does so; undefined if always. */
  readonly walks?: RegExp;
  /** Arguments with which it does not leave out hidden files; undefined if it never does. */
  readonly seesHidden?: RegExp;
}

/** `grep -r`, `rg` and the like: reads everything below its operands. */
const judgeSearch =
  ({ walks, seesHidden }: Search) =>
  (subject: CommandAnalysis): void => {
    const { args } = subject;
    if (walks && !args.some(({ shape }) => walks.test(shape))) return;
    const parsed = parseArguments(args, { options: GREP_OPTIONS });
    const hasPattern = hasOption(parsed, '-e', '-f', '--regexp', '--file');
    const operands = parsed.operands.slice(hasPattern ? 0 : 1);
    const names = parsed.options.flatMap(({ name, value }) =>
      /^(?:--include|-g|--glob)$/.test(name) && value?.value?.startsWith('!') === false ? [value.value] : [],
    );
    const filter = { names, seesHidden: !seesHidden || args.some(({ shape }) => seesHidden.test(shape)) };
    for (const place of operands.length > 0 ? operands : [literal('.')]) subject.readTree(place, filter);
  };

/** `grep` searches directories only when told to. */
const GREP: Search = {
  walks: /^(?:-[A-Za-z]*[rR]|--recursive|--dereference-recursive|--directories=recurse|recurse$)/,
};
/** `rg` and the like leave out hidden files unless told otherwise. */
const RIPGREP: Search = { seesHidden: /^(?:-\.|-[A-Za-z]*u|--hidden|--unrestricted|--no-ignore|-a$)/ };

const pager = { value: 'shell', class: 'execute' } as const;

/** `man -H` and `--html` take a browser command only as an attached value. */
function judgeMan(subject: CommandAnalysis): void {
  for (const arg of subject.args) {
    const [before] = /^(?:--html=|-[adfhkKtuVwWl]*H)(?=.)/.exec(arg.shape) ?? [];
    if (before !== undefined) subject.runText(tailOf(arg, before.length), 'the browser that man -H runs');
  }
}

/** `yq -i` changes its files, which follow the expression. */
function judgeYq(subject: CommandAnalysis): void {
  if (!subject.args.some(({ shape }) => /^(?:-[a-zA-Z]*i|--inplace)$/.test(shape))) return;
  subject.add('write', 'yq changes files');
  for (const file of subject.args) if (!file.shape.startsWith('-') && /[./]\w/.test(file.shape)) subject.write(file);
}

/** Programs that only read, and the options that give some of them further effects. */
const SPECS: ProgramTable = {
  ...each(
    'ls dir vdir cat tac head tail nl cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum sum od hexdump strings stat df realpath readlink paste join comm tr cut bc fold fmt pr expand unexpand column rev cmp zcat bzcat xzcat zless zmore look which whereis whatis apropos pgrep pstree free vmstat iostat mpstat uptime lsof lscpu lsblk lspci lsusb lsmod lsns findmnt netstat ldd size readelf file jq locate numfmt tsort exa eza md5 shasum lastlog last w who users groups id namei getfacl getfattr lsattr blkid xmllint hexyl tokei cloc scc tldr',
    { class: 'read' },
  ),
  ps: {
    class: 'read',
    operands: 'text',
    judge: (subject) => {
      if (subject.args.some(({ shape }) => /^[a-zA-Z]*e[a-zA-Z]*$/.test(shape)))
        subject.add('exfiltration', 'ps shows the variables of processes');
    },
  },
  getent: {
    class: 'read',
    operands: 'text',
    judge: (subject) => {
      if (subject.args.some(({ value }) => value === 'shadow' || value === 'gshadow'))
        subject.add('exfiltration', 'getent reads credentials');
    },
  },
  ...each('grep egrep fgrep zgrep', { class: 'read', judge: judgeSearch(GREP) }),
  diff3: { class: 'read', options: { '--diff-program': { value: 'program' } } },
  ...each('diff colordiff', {
    class: 'read',
    options: each('--to-file --from-file -X --exclude-from', { value: 'read' }),
    judge: (subject) => {
      if (!subject.args.some(({ shape }) => /^(?:-[A-Za-z]*[rN]|--recursive)/.test(shape))) return;
      for (const arg of subject.args) if (!arg.shape.startsWith('-')) subject.readTree(arg);
    },
  }),
  ...each(
    'pwd true false seq factor yes sleep cal uname whoami printenv locale getconf nproc arch tty tput clear basename dirname expr logname hostid ncal',
    { class: 'read', operands: 'text' },
  ),
  ...each('more less most', {
    class: 'read',
    options: {
      ...each('-o -O --log-file', { value: 'write' }),
      ...each('-k --lesskey-file --lesskey-src --lesskey-content', { value: 'code' }),
    },
    judge: (subject) => {
      if (subject.args.some(({ shape }) => /^\+{1,2}[!|#:s-]/.test(shape)))
        subject.add('obfuscated', `${subject.program ?? 'it'} runs the commands that an argument starts with +`);
    },
  }),
  man: {
    class: 'read',
    operands: 'text',
    options: {
      ...each('-P --pager', pager),
      ...each('-H --html', { class: 'execute' }),
      '-C': { value: 'code' },
      ...each('-l --local-file', { value: 'read' }),
    },
    judge: judgeMan,
  },
  ...each('bat batcat delta', {
    class: 'read',
    options: {
      '--pager': pager,
      '--config-file': { value: 'program' },
      ...valued('-l -r --language --theme --style'),
    },
  }),
  ...each('rg ag ack ugrep', {
    class: 'read',
    judge: judgeSearch(RIPGREP),
    options: {
      ...each('--pre --hostname-bin --pager', { value: 'shell', class: 'execute' }),
      ...each('--filter --view', { value: 'program' }),
      ...valued('-e -f -g -t -A -B -C -m --glob --type --max-count --context --regexp --iglob'),
    },
  }),
  dc: {
    class: 'read',
    operands: 'read',
    options: valued('-e --expression'),
    judge: (subject) => {
      const { stdin } = subject.command;
      const texts = subject.args.map(({ shape }) => shape);
      const isKnown = stdin === undefined || (stdin.kind === 'text' && !stdin.text.includes('!'));
      if (!isKnown || texts.some((word) => word.includes('!'))) subject.add('obfuscated', 'dc may run commands');
    },
  },
  ...each('fzf sk', {
    class: 'read',
    operands: 'text',
    options: {
      ...each('--preview', { value: 'shell', class: 'execute' }),
      '--bind': { value: 'code', harmless: /^(?!.*(?:execute|become|reload|transform)).*$/ },
      ...valued('-q -f -d -n --query --filter --delimiter --nth --height --prompt --header'),
    },
  }),
  nm: { class: 'read', options: { '--plugin': { value: 'code' }, ...valued('-t --radix --target') } },
  ss: { class: 'read', operands: 'text', options: each('-D --diag', { value: 'write' }) },
  ...each('wc du', { class: 'read', options: each('--files0-from', { value: 'read' }) }),
  tree: { class: 'read', options: { '-o': { value: 'write' } } },
  sort: {
    class: 'read',
    options: {
      ...each('-o --output', { value: 'write' }),
      '--compress-program': { value: 'code' },
      ...valued('-k -t -S -T --key --field-separator --buffer-size --temporary-directory --parallel'),
    },
  },
  shuf: {
    class: 'read',
    options: { ...each('-o --output', { value: 'write' }), ...valued('-n -i --head-count --input-range') },
  },
  uniq: { class: 'read', operands: 'last-written', options: valued('-f -s -w') },
  xxd: { class: 'read', operands: 'last-written', options: valued('-l -s -c -g -o') },
  ...each('base64 base32 basenc', { class: 'read', options: valued('-w --wrap') }),
  yq: { class: 'read', options: valued('-I --indent -o -p'), judge: judgeYq },
  ...each('sdiff', {
    class: 'read',
    options: { ...each('-o --output', { value: 'write' }), '--diff-program': { value: 'code' } },
  }),
  ...each('top htop btop', { class: 'read', operands: 'text' }),
  hostname: {
    class: 'read',
    operands: 'text',
    options: { ...each('-F --file', { class: 'privilege', value: 'read' }) },
    judge: (subject) => {
      if (subject.args.some(({ shape }) => !shape.startsWith('-')))
        subject.add('privilege', 'hostname changes the name of the machine');
    },
  },
  date: {
    class: 'read',
    operands: 'text',
    options: {
      ...each('-s --set', { class: 'privilege', value: 'text' }),
      ...valued('-d -r --date --reference'),
      ...each('-f --file', { value: 'read' }),
    },
    judge: (subject) => {
      if (subject.args.some(({ shape }) => /^\d{8,12}(?:\.\d\d)?$/.test(shape)))
        subject.add('privilege', 'date sets the system clock');
    },
  },
  dmesg: { class: 'read', options: each('-C -c --clear --console-off', { class: 'privilege' }) },
  journalctl: {
    class: 'read',
    operands: 'text',
    options: each('--vacuum-size --vacuum-time --vacuum-files --rotate', { class: 'destructive', value: 'text' }),
  },
  fuser: { class: 'read', options: each('-k --kill', { class: 'destructive', reason: 'ends processes' }) },
};

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
