import type { Directory } from '../model.js';
import { kindOf } from '../path-kinds.js';
import { resolvePath } from '../paths.js';
import type { ProgramFamily } from '../program-catalog.js';
import { TRIVIAL_PROGRAM } from '../subject/assignments.js';
import type { CommandAnalysis } from '../subject/command-analysis.js';
import { listedByGrep } from '../subject/listed-files.js';
import { hasOption, parseArguments, subcommandsIn, valueOfOption } from '../subject/options.js';
import { type ProgramCall, type ProgramSpec, valued } from '../subject/program-spec.js';
import { type Argument, literal } from '../words/argument.js';

const ENTRIES = String.raw`
%fetch: read
  --upload-pack -u = shell ! execute
  -c --config = text ! obfuscated runs another program
  --template = text ! obfuscated installs hooks from a template
  -b -o --depth --branch --origin -j = text
%commit: read
  -x --exec = shell
  -F --file -t --template = read
  -m -C -s = text
%show: read
  --output = write
  --contents = read
  --ext-diff --open-files-in-pager = text ! obfuscated
git <text>: execute may run an alias
  -c --config-env -C --git-dir --work-tree --namespace --super-prefix --attr-source --list-cmds = text
  --exec-path = text ! obfuscated runs other programs
  -p -P -h -v --paginate --no-pager --bare --no-replace-objects --literal-pathspecs --glob-pathspecs \
      --noglob-pathspecs --icase-pathspecs --no-optional-locks --no-lazy-fetch --no-advice --version --help
  when /^(?:--\w+=)?ext::/ ! obfuscated git runs a program to reach a repository
  rule git
  status log show rev-parse rev-list ls-files ls-tree cat-file blame annotate describe shortlog name-rev \
      merge-base for-each-ref show-ref var version help count-objects fsck whatchanged range-diff check-ignore \
      check-attr diff-tree diff-files diff-index cherry verify-commit verify-tag show-branch --version <read>: \
      read
    like %show
  diff <read>: read
    like %show
    --no-index <tree>
  grep <read>: read
    -O --open-files-in-pager = text ! obfuscated runs another program
    -e -f -A -B -C = text
    rule grep
  init: write
    --template = text ! obfuscated installs hooks from a template
  hash-object add <read>: write
  send-pack fetch-pack: network
    --receive-pack --upload-pack --exec = shell ! execute
  read-tree: write
    -u --reset ! destructive discards changes
  checkout-index: write
    -f --force ! destructive overwrites files
    --prefix = write
  for-each-repo: obfuscated runs commands in other repositories
  maintenance: execute
    start register unregister stop: persistence changes what runs later
  notes: write
    -F --file = read
  mv <read... into>: write
  update-index write-tree commit-tree symbolic-ref sparse-checkout: write
  bundle <read>: read
    like %show
    create <write text>: write
  branch: write
    -d -D --delete ! destructive deletes a branch
    -f --force -M ! destructive
  tag: write
    -d --delete ! destructive deletes a tag
    -f --force ! destructive
    -F --file = read
    -m -u = text
  remote: write
    show get-url -v <read>: read
      like %show
    update prune: network
      like %fetch
    add set-url: network
  stash: write
    list show <read>: read
      like %show
    drop clear: destructive discards work
  reflog <read>: read
    like %show
    expire delete <text>: destructive discards work
  worktree: write
    list <read>: read
      like %show
    remove prune: destructive discards work
  commit merge cherry-pick am revert rebase: execute
    like %commit
  bisect: execute
    like %commit
    run: execute
      rule command
  checkout switch restore: write
    -f --force --discard-changes ! destructive discards changes
    -B -C --force-create = text ! destructive moves a branch
    -b -c -s --source --orphan = text
    rule checkout
  reset: write
    when /^--(?:h|k|m(?!i))/ ! destructive git discards changes to files
    when /\0/ ! destructive git may discard changes to files
  clean: read
    -e --exclude = text
    rule clean
  rm: write
    when no /^--cached$/ ! destructive git rm deletes files
  filter-repo prune replace: destructive discards work
  filter-branch: destructive discards work
    --env-filter --tree-filter --index-filter --msg-filter --commit-filter --parent-filter --tag-name-filter \
        --setup = shell
  gc: write
    --prune ! destructive discards work
    --aggressive
  update-ref: write
    -d --stdin ! destructive
    -m = text
  apply: write
    --unsafe-paths ! destructive writes to any path that the patch names
    --directory = write
    writes x
  format-patch: write
    -o --output-directory = write
  config: write
    --get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool -l --list --add --unset --unset-all \
        --replace-all --rename-section --remove-section -e --edit --global --system --local --worktree -z --null \
        --name-only --show-names --show-origin --show-scope --bool --int --bool-or-int --bool-or-str --path \
        --expiry-date --no-type --includes --no-includes --fixed-value --all --regexp --append
    -f --file --blob --type -t --default --comment --value --url = text
    when /extraheader|\.helper$|password|token/i ! exfiltration git config shows or sets credentials
    rule config
  clone fetch pull ls-remote: network
    like %fetch
  submodule: network
    status summary <read>: read
      like %show
    foreach: execute
      rule foreach
    deinit: destructive discards work
  push: network
    --receive-pack --exec = shell ! execute
    -f --force --force-with-lease --mirror -d --delete --prune ! destructive overwrites commits of others
    -o --push-option = text
    when /^(?:\w+:\/\/|[\w.-]+@[\w.-]+:|[\w.-]+:[^:]*\/)/ ! exfiltration \
        git push sends the repository to an address: {word}
    when /^[+:]./ ! destructive git overwrites or deletes commits of others: {word}
  archive <read>: read
    -o --output = write
    --exec = shell
    --remote --format --prefix = text
  difftool mergetool instaweb daemon shell gui gitk web--browse help--browse: obfuscated runs other programs
  send-email imap-send request-pull: exfiltration
  credential credential-store credential-cache: exfiltration reads credentials
  is runnable history
  lists grep
  e.g. git status: read; git add x: write; git commit -m x: execute; git push: network; \
      git reset --hard: destructive; git config --global user.name x: persistence; \
      git -c core.pager=x log: obfuscated
`;

/** Settings that make git run programs or read other settings. Source: git-config(1). */
const RUNNING_SETTING =
  /^(?:core\.(?:pager|editor|fsmonitor|sshcommand|hookspath|askpass|gitproxy|attributesfile|worktree|alternaterefscommand)|alias\..*|pager\..*|.*\.(?:command|textconv|process|clean|smudge|driver|cmd|program|path|helper|proxy|uploadpack|receivepack|vcs|packobjectshook)|diff\.external|gpg\..*|sequence\.editor|interactive\.difffilter|include\.path|includeif\..*|url\..*|protocol\..*|init\.templatedir|browser\..*|man\..*|web\.browser|instaweb\..*|imap\.tunnel|guitool\..*|sendemail\..*|submodule\..*|trailer\..*|remote\..*|extensions\..*|safe\..*)$/i;

/** Options before git's subcommand: settings for this call. */
function judgeGit(subject: CommandAnalysis, { args, options }: ProgramCall, spec: ProgramSpec): void {
  let { directories } = subject.scope;
  subject.noteRepositories(directories);
  for (const { name, value } of options) {
    judgeCallOption(subject, name, value);
    if (name !== '-C') continue;
    directories = value?.value === undefined ? [undefined] : resolvePath(value.value, directories);
    subject.noteRepositories(directories);
  }
  if (directories !== subject.scope.directories) judgeThere(subject, args, spec, directories);
}

/** An option that gives a setting for this call, or that names another repository. */
function judgeCallOption(subject: CommandAnalysis, name: string, value: Argument | undefined): void {
  if (name === '--bare') subject.does('uses a repository with other settings', '', 'git --bare');
  if (name === '--git-dir' || name === '--work-tree') judgePlace(subject, name, value);
  if ((name === '-c' || name === '--config-env') && value) judgeSetting(subject, value.shape);
}

/** Judges a command in the directory that `-C` names. */
function judgeThere(
  subject: CommandAnalysis,
  args: readonly Argument[],
  { options = {} }: ProgramSpec,
  directories: readonly Directory[],
): void {
  const { length } = args;
  const [first] = subcommandsIn(args, options);
  if (!first) return;
  const words = [literal('git'), ...args.slice(length - first.rest.length - 1)];
  subject.runWords(words, {}, { ...subject.scope, directories });
}

/** Another repository has its own settings, and another work tree is changed. */
function judgePlace(subject: CommandAnalysis, option: string, value: Argument | undefined): void {
  const { inquiry, scope } = subject;
  const paths = value?.value === undefined ? [undefined] : resolvePath(value.value, scope.directories);
  // Another name is that of a directory with settings of its own, which may lie in a checkout.
  const place = (path: Directory) => (option === '--git-dir' ? path?.replace(/\/\.git$/, '') : path);
  const isNamed = option !== '--git-dir' || paths.every((path) => path?.endsWith('/.git') === true);
  if (option === '--git-dir' && isNamed) subject.noteRepositories(paths.map(place));
  if (isNamed && paths.every((path) => kindOf(place(path), inquiry.facts) === 'workspace')) return;
  subject.does('uses a repository with other settings', value?.text, `git ${option}`);
}

function judgeSetting(subject: CommandAnalysis, setting: string): void {
  const [key = '', ...rest] = setting.split('=');
  const value = rest.join('=');
  if (/^core\.(?:pager|editor)$/i.test(key) && /^(?:|cat|less|true|:|vi|vim|nano)$/.test(value)) return;
  if (key.includes('\0') || RUNNING_SETTING.test(key)) subject.does('runs a program that a setting names', key);
  if (value.startsWith('!')) subject.inquiry.judgeText(value.slice(1).replaceAll('\0', '$unknown'), subject.scope);
}

/** `checkout`, `switch`, `restore`: operate on branches, or on files, whose changes are lost. */
function judgeCheckout(subject: CommandAnalysis, call: ProgramCall): void {
  const words = call.args.map(({ shape }) => shape);
  const has = (...names: readonly string[]) => names.some((name) => words.includes(name));
  const isRestore = call.label === 'git restore';
  const isOfIndex = isRestore && has('--staged', '-S') && !has('--worktree', '-W');
  if (isOfIndex) return;
  const isOfFiles = call.label === 'git checkout' && namesFiles(call);
  if (!isRestore && !isOfFiles && !has('--', '.')) return;
  subject.addDiscarded('git discards changes to files', discardedFiles(subject, call));
}

/** The files whose changes are discarded, if they are named one by one; none when others may be. */
function discardedFiles(subject: CommandAnalysis, { args: words }: ProgramCall): readonly Argument[] {
  const isPlain = isWithoutOptions(subject, words) && words.every(({ shape }) => shape === '--' || isPlainFile(shape));
  if (!isPlain) return [];
  const end = words.findIndex(({ shape }) => shape === '--');
  // Without the mark, the first word may be a revision: a path that does not exist loses nothing.
  return words.slice(end + 1);
}

/** Whether nothing stands before the subcommand, which has these arguments. */
const isWithoutOptions = (subject: CommandAnalysis, args: readonly Argument[]): boolean =>
  subject.args.length === args.length + 1;

/** Whether git takes a word for one file or directory: patterns match in all directories below. */
const isPlainFile = (shape: string): boolean => /^[^-:*?[][^*?[]*$/.test(shape);

const CHECKOUT_OPTIONS = valued('-b -B --orphan --conflict');

/** Whether `checkout` is given files: after a revision, or recognised as file names. */
function namesFiles({ args }: ProgramCall): boolean {
  const { operands, options } = parseArguments(args, CHECKOUT_OPTIONS);
  const isOfBranch = options.some(({ name }) => Object.hasOwn(CHECKOUT_OPTIONS, name));
  // `--theirs` and `--ours` replace only the conflicted result of a merge, which is not the work of either side.
  if (isOfBranch || options.some(({ name }) => name === '--theirs' || name === '--ours')) return false;
  return operands.length > 1 || operands.some(({ shape }) => /\/$|\.(?:[chmrs]|[A-Za-z]{2,4})$/.test(shape));
}

/** `clean`: with `-n` it only lists what it would delete. */
function judgeClean(subject: CommandAnalysis, { args, options, operands }: ProgramCall): void {
  if (options.some(({ name }) => name === '-n' || name === '--dry-run')) return;
  const isPlain = isWithoutOptions(subject, args) && operands.every(({ shape }) => isPlainFile(shape));
  const files = operands.length > 0 ? operands : [literal('.')];
  // Given twice, the option makes git delete other repositories as well.
  const sparesGit = options.filter(({ name }) => name === '-f' || name === '--force').length < 2;
  subject.addDiscarded('git clean discards work', isPlain && sparesGit ? files : []);
}

function judgeForeach(subject: CommandAnalysis, { args }: ProgramCall): void {
  const words = args.filter(({ shape }) => shape !== '--recursive' && shape !== '--quiet');
  const unknown = words.find(({ value }) => value === undefined);
  if (unknown) subject.addUnknown(unknown, 'the command that git submodule foreach runs');
  else
    subject.inquiry.judgeText(words.map(({ value }) => value).join(' '), {
      ...subject.scope,
      directories: [undefined],
    });
}

/** `grep --no-index`: walks through directories as grep does. */
function judgeGrep(subject: CommandAnalysis, { args }: ProgramCall): void {
  if (!args.some(({ value }) => value === '--no-index')) return;
  const words = args.filter(({ shape }) => !shape.startsWith('-'));
  for (const place of words.length > 1 ? words.slice(1) : [literal('.')]) subject.readTree(place);
}

/** Options with which `git config` only reads. */
const READING_OPTIONS = ['--get', '--get-all', '--get-regexp', '--get-urlmatch', '--get-color', '--get-colorbool'];
/** Options with which it changes something, though it is given one name only. */
const CHANGING_OPTIONS = ['--add', '--unset', '--unset-all', '--replace-all', '--remove-section', '-e', '--edit'];
/** Its subcommands, which older versions have as options. */
const CONFIG_VERBS = /^(?:list|get|set|unset|rename-section|remove-section|edit)$/;

/** `git config`: settings that run programs later, or that apply to all repositories. */
function judgeConfig(subject: CommandAnalysis, call: ProgramCall): void {
  const { operands } = call;
  const verb = verbOf(operands);
  const names = verb === '' ? operands : operands.slice(1);
  const isReading = readsConfig(call, verb, names);
  const file = valueOfOption(call, '-f', '--file');
  if (file && isReading) subject.read(file);
  else if (file) subject.write(file);
  if (!isReading) judgeChange(subject, call, verb, names);
}

const verbOf = ([first]: readonly Argument[]): string => CONFIG_VERBS.exec(first?.value ?? '')?.[0] ?? '';

function judgeChange(subject: CommandAnalysis, call: ProgramCall, verb: string, names: readonly Argument[]): void {
  const running = names.find(mayRunProgram);
  if (running) subject.does('will run a program that a setting names', running.text);
  if (/^(?:rename-section|edit)$/.test(verb) || hasOption(call, '--rename-section', '-e', '--edit'))
    subject.does('may change settings with which git runs programs', '', 'git config');
  if (hasOption(call, '--global', '--system') && names.length > 1)
    subject.does('changes a setting for all repositories', '', 'git config');
}

/** Whether settings are shown: with an option or a subcommand for it, or when only a name is given. */
function readsConfig(call: ProgramCall, verb: string, names: readonly Argument[]): boolean {
  const isChanging = hasOption(call, ...CHANGING_OPTIONS, '--rename-section');
  if (isChanging || names.some(({ maySplit, value }) => maySplit && value === undefined)) return false;
  if (hasOption(call, ...READING_OPTIONS)) return true;
  if (hasOption(call, '-l', '--list') || /^(?:list|get)$/.test(verb)) return names.length < 2;
  return verb === '' && names.length < 2;
}

const mayRunProgram = ({ value }: Argument): boolean => value === undefined || RUNNING_SETTING.test(value);

function judgeCommand(subject: CommandAnalysis, { args }: ProgramCall): void {
  subject.runWords(args);
}

export const GIT: ProgramFamily = {
  name: 'git',
  entries: ENTRIES,
  rules: {
    judges: {
      git: judgeGit,
      grep: judgeGrep,
      command: judgeCommand,
      checkout: judgeCheckout,
      clean: judgeClean,
      config: judgeConfig,
      foreach: judgeForeach,
    },
    lists: { grep: ([subcommand, ...args]) => (subcommand?.value === 'grep' ? listedByGrep(args, true) : undefined) },
  },
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
  startupPaths: `
    ~/.gitconfig ~/.config/git/** /**/.git /**/.git/** /**/.husky/** .gitattributes .gitmodules
  `,
  harmlessPaths: [
    ...['objects/**', 'refs/**', 'logs/**', 'index', 'index.lock', '*_MSG', '*_EDITMSG', 'COMMIT_EDITMSG'],
    ...['info/exclude', 'packed-refs', 'shallow', 'description'],
  ].map((path) => `/**/.git/${path}`),
};
