import type { ProgramFamily } from '../program-catalog.js';
import type { CommandAnalysis } from '../subject/command-analysis.js';
import { GREP_OPTIONS, listedByGrep } from '../subject/listed-files.js';
import { hasOption, parseArguments } from '../subject/options.js';
import type { ProgramCall } from '../subject/program-spec.js';
import { literal } from '../words/argument.js';
import type { KnownOutput, ListedNames } from '../words/program-knowledge.js';

const ENTRIES = String.raw`
ls dir vdir tac head tail nl cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum sum od hexdump \
    strings stat realpath readlink paste join comm tr cut fold fmt pr expand unexpand column rev cmp zcat bzcat \
    xzcat zless zmore look which whereis whatis apropos pgrep pstree free vmstat iostat mpstat uptime lsof lspci lsusb \
    lsmod lsns netstat ldd size readelf file jq locate numfmt tsort exa eza md5 shasum \
    lastlog last w who users groups id namei getfacl getfattr lsattr blkid xmllint hexyl tokei cloc scc tldr: read
  is metadata of ls dir stat realpath readlink lsof file getfacl blkid
  e.g. ls x: read; ls --hook=x: execute
df lsblk lscpu findmnt: read
  -o --output = text
  is metadata of df lsblk findmnt
  e.g. df --output=size x: read
cat: read
  prints copied
  e.g. cat x: read
bc: read
  typed code unless /^-[evhV]$|^--expression/
  e.g. bc -l: interactive
ps <text>: read
  when /^[a-zA-Z]*e[a-zA-Z]*$/ ! exfiltration ps shows the variables of processes
  e.g. ps aux: read
getent <text>: read
  when /^g?shadow$/ ! exfiltration getent reads credentials
  e.g. getent passwd: read
grep egrep fgrep zgrep: read
  rule grep
  lists grep of grep egrep fgrep
  e.g. grep x: read
diff3: read
  --diff-program = program
  e.g. diff3 a b c: read
diff colordiff: read
  --to-file --from-file -X --exclude-from = read
  -r -N --recursive <tree>
  e.g. colordiff a b: read
pwd true false seq factor yes sleep cal uname whoami printenv locale getconf nproc arch tty tput clear basename \
    dirname expr logname hostid ncal top htop btop <text>: read
  is metadata of basename dirname
  is unread of true
  e.g. pwd: read; top -b: read
more less most: read
  -o -O --log-file = write
  -k --lesskey-file --lesskey-src --lesskey-content = code
  when /^\+{1,2}[!|#:s-]/ ! obfuscated {it} runs the commands that an argument starts with +
  typed code on screen unless /^-V$/
  e.g. less x: interactive
man <text>: read
  -P --pager = shell ! execute
  -H --html =? shell ! execute
  -C = code
  -l --local-file = read
  e.g. man ls: read
bat batcat delta: read
  --pager = shell ! execute
  --config-file = program
  -l -r --language --theme --style = text
  e.g. bat x: read
rg: read
  --pre --hostname-bin --pager = shell ! execute
  --filter --view = program
  -e -f -g -t -A -B -C -m --glob --type --max-count --context --regexp --iglob = text
  rule ripgrep
  lists ripgrep
  e.g. rg -l x src: read; rg --pre 'rm x' y: destructive
ag ack ugrep: read
  like rg
  e.g. ag x: read
dc: read
  -e --expression = text
  rule dc
  typed code unless /^-[evhV]$|^--expression/
  e.g. dc -e '!rm x': obfuscated
fzf sk <text>: read
  --preview = shell ! execute
  --bind = code unless /^(?!.*(?:execute|become|reload|transform)).*$/
  -q -f -d -n --query --filter --delimiter --nth --height --prompt --header = text
  e.g. fzf -q x: read
nm: read
  --plugin = code
  -t --radix --target = text
  e.g. nm x: read
ss <text>: read
  -D --diag = write
  e.g. ss -tlnp: read
wc du: read
  --files0-from = read
  is metadata of du
  e.g. du -s x: read
tree: read
  -o = write
  e.g. tree -L 2: read
sort: read
  -o --output = write
  --compress-program = code
  -k -t -S -T --key --field-separator --buffer-size --temporary-directory --parallel = text
  e.g. sort -o /etc/passwd x: persistence
shuf: read
  -o --output = write
  -n -i --head-count --input-range = text
  e.g. shuf x: read
uniq <read... write>: read
  -f -s -w = text
  e.g. uniq a: read
xxd <read... write>: read
  -l -s -c -g -o = text
  e.g. xxd -r a b: write
base64 base32 basenc: read
  -w --wrap = text
  e.g. base64 -d x: read
yq: read
  -I --indent -o -p = text
  -i --inplace <write> ! write changes files
  e.g. yq . x: read
sdiff: read
  -o --output = write
  --diff-program = code
  e.g. sdiff a b: read
hostname <text>: read
  -F --file = read ! privilege
  when /^(?!-)/ ! privilege hostname changes the name of the machine
  e.g. hostname x: privilege
date <text>: read
  -s --set = text ! privilege
  -d -r --date --reference = text
  -f --file = read
  when /^\d{8,12}(?:\.\d\d)?$/ ! privilege date sets the system clock
  e.g. date +%s: read
dmesg: read
  -C -c --clear --console-off ! privilege
  e.g. dmesg: read
journalctl <text>: read
  --vacuum-size --vacuum-time --vacuum-files --rotate = text ! destructive
  -o --output = text
  e.g. journalctl --vacuum-size=1M: destructive
fuser: read
  -k --kill ! destructive ends processes
  is metadata
  e.g. fuser x: read
`;

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
    const parsed = parseArguments(args, GREP_OPTIONS);
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

/** `cat` without operands prints its input. */
const copied: KnownOutput = (args, stdin) =>
  args.length === 0 && stdin?.kind === 'text' && stdin.isCertain ? stdin.text : undefined;

/** `rg` skips hidden directories unless options say otherwise. */
const listedByRipgrep: ListedNames = (args) =>
  args.some(({ shape }) => /^(?:-\.|-u+|--hidden|--unrestricted|--no-ignore)/.test(shape))
    ? undefined
    : listedByGrep(args, true);

/** `dc`: `!` runs a command. */
function judgeDc(subject: CommandAnalysis, { args }: ProgramCall): void {
  const { stdin } = subject.command;
  const isKnown = stdin === undefined || (stdin.kind === 'text' && !stdin.text.includes('!'));
  if (!isKnown || args.some(({ shape }) => shape.includes('!'))) subject.does('may run commands');
}

export const READING: ProgramFamily = {
  name: 'reading',
  entries: ENTRIES,
  rules: {
    judges: {
      grep: judgeSearch(GREP),
      ripgrep: judgeSearch(RIPGREP),
      dc: judgeDc,
    },
    prints: { copied },
    lists: { grep: (args) => listedByGrep(args, false), ripgrep: listedByRipgrep },
  },
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
};
