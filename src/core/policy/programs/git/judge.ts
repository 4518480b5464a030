import type { Directory } from '../../model/facts.js';
import { type Argument, literal } from '../../words/argument.js';
import { parseArguments, tailOf } from '../../subject/options.js';
import { kindOf } from '../../paths/path-kinds.js';
import { resolvePath } from '../../paths/paths.js';
import { valued } from '../../subject/program-spec.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';

/** Settings that make git run programs or read other settings. Source: git-config(1). */
const RUNNING_SETTING =
  /^(?:core\.(?:pager|editor|fsmonitor|sshcommand|hookspath|askpass|gitproxy|attributesfile|worktree|alternaterefscommand)|alias\..*|pager\..*|.*\.(?:command|textconv|process|clean|smudge|driver|cmd|program|path|helper|proxy|uploadpack|receivepack|vcs|packobjectshook)|diff\.external|gpg\..*|sequence\.editor|interactive\.difffilter|include\.path|includeif\..*|url\..*|protocol\..*|init\.templatedir|browser\..*|man\..*|web\.browser|instaweb\..*|imap\.tunnel|guitool\..*|sendemail\..*|submodule\..*|trailer\..*|remote\..*|extensions\..*|safe\..*)$/i;

/** Options before git's subcommand: settings for this call. */
export function judgeGit(subject: CommandAnalysis): void {
  const { args } = subject;
  if (args.some(({ shape }) => /^(?:--\w+=)?ext::/.test(shape)))
    subject.add('obfuscated', 'git runs a program to reach a repository');
  let directories = subject.scope.directories;
  subject.noteRepositories(directories);
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index];
    if (arg?.shape.startsWith('-') !== true) return;
    const next = args[index + 1];
    judgePlaceOption(subject, arg, next);
    if (arg.shape === '-C') {
      directories = next?.value === undefined ? [undefined] : resolvePath(next.value, directories);
      subject.noteRepositories(directories);
      judgeThere(subject, args.slice(index + 2), directories);
    }
    const setting = settingOf(arg.shape, next);
    if (setting !== undefined) judgeSetting(subject, setting);
    if (TAKES_NEXT.has(arg.shape)) index += 1;
  }
}

/** Judges the rest of a command in the directory that `-C` names. */
function judgeThere(subject: CommandAnalysis, rest: readonly Argument[], directories: readonly Directory[]): void {
  if (rest.length > 0) subject.runWords([literal('git'), ...rest], {}, { ...subject.scope, directories });
}

/** Options of git whose value is the next word. */
const TAKES_NEXT = new Set(['-c', '--config-env', '-C', '--git-dir', '--work-tree', '--namespace', '--exec-path']);

/** The setting that an option gives for this call, as `key=value`. */
function settingOf(shape: string, next: Argument | undefined): string | undefined {
  if (shape === '-c' || shape === '--config-env') return next?.shape;
  return /^(?:-c|--config-env=?)(.+)$/s.exec(shape)?.[1];
}

/** `--git-dir` and `--work-tree`, with the value attached or in the next word. */
function judgePlaceOption(subject: CommandAnalysis, arg: Argument, next: Argument | undefined): void {
  if (arg.shape === '--bare') subject.add('obfuscated', 'git --bare uses the directory as a repository');
  const [option] = /^--(?:git-dir|work-tree)(?==|$)/.exec(arg.shape) ?? [];
  if (option === undefined) return;
  judgePlace(subject, option, arg.shape === option ? next : tailOf(arg, option.length + 1));
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
  subject.add('obfuscated', `git ${option} uses a repository with other settings: ${value?.text ?? ''}`);
}

function judgeSetting(subject: CommandAnalysis, setting: string): void {
  const [key = '', ...rest] = setting.split('=');
  const value = rest.join('=');
  if (/^core\.(?:pager|editor)$/i.test(key) && /^(?:|cat|less|true|:|vi|vim|nano)$/.test(value)) return;
  if (key.includes('\0') || RUNNING_SETTING.test(key))
    subject.add('obfuscated', `git runs a program that a setting names: ${key}`);
  if (value.startsWith('!')) subject.inquiry.judgeText(value.slice(1).replaceAll('\0', '$unknown'), subject.scope);
}

const READING_CONFIG = /^(?:--get.*|--list|-l|get|list|--show-origin|--name-only|--show-scope)$/;

/** `git config`: settings that run programs later, or that apply to all repositories. */
export function judgeGitConfig(subject: CommandAnalysis): void {
  const words = wordsAfter(subject, 'config');
  if (words.some(({ shape }) => /extraheader|\.helper$|password|token/i.test(shape)))
    subject.add('exfiltration', 'git config shows or sets credentials');
  if (words.some(({ value }) => value !== undefined && READING_CONFIG.test(value))) return;
  const names = words.filter(({ shape }) => !shape.startsWith('-') && !['set', 'unset'].includes(shape));
  const [key] = names;
  const isChanged = names.length > 1 || words.length > names.length;
  if (isChanged && mayRunProgram(key))
    subject.add('persistence', `git will run a program that a setting names: ${key?.text ?? ''}`);
  writeConfigFiles(subject, words);
  if (words.some(({ value }) => value === '--global' || value === '--system') && names.length > 1) {
    subject.add('persistence', 'git config changes a setting for all repositories');
  }
}

const mayRunProgram = (key: Argument | undefined): boolean =>
  key?.value === undefined || RUNNING_SETTING.test(key.value);

/** The files that `git config` changes in place of a repository's own. */
function writeConfigFiles(subject: CommandAnalysis, words: readonly Argument[]): void {
  words.forEach((word, index) => {
    const file = /^(?:-f|--file)$/.test(word.shape) ? words[index + 1] : undefined;
    if (file) subject.write(file);
    else if (word.shape.startsWith('--file=')) subject.write(tailOf(word, '--file='.length));
  });
}

/** `checkout`, `switch`, `restore`: operate on branches, or on files, whose changes are lost. */
export function judgeGitCheckout(subject: CommandAnalysis): void {
  const words = subject.args.map(({ shape }) => shape);
  const has = (...names: readonly string[]) => names.some((name) => words.includes(name));
  const isOfIndex = has('restore') && has('--staged', '-S') && !has('--worktree', '-W');
  if (isOfIndex) return;
  const isRestore = has('restore');
  const isOfFiles = has('checkout') && namesFiles(subject);
  if (!isRestore && !isOfFiles && !has('--', '.')) return;
  subject.addDiscarded('git discards changes to files', discardedFiles(subject, isRestore ? 'restore' : 'checkout'));
}

/** The files whose changes are discarded, if they are named one by one; none when others may be. */
function discardedFiles(subject: CommandAnalysis, verb: string): readonly Argument[] {
  const words = wordsAfter(subject, verb);
  const isPlain = subject.args[0]?.value === verb && words.every(({ shape }) => shape === '--' || isPlainFile(shape));
  if (!isPlain) return [];
  const end = words.findIndex(({ shape }) => shape === '--');
  // Without the mark, the first word may be a revision: a path that does not exist loses nothing.
  return words.slice(end + 1);
}

/** Whether git takes a word for one file or directory: patterns match in all directories below. */
const isPlainFile = (shape: string): boolean => /^[^-:*?[][^*?[]*$/.test(shape);

const CHECKOUT_OPTIONS = valued('-b -B --orphan --conflict');

/** Whether `checkout` is given files: after a revision, or recognised as file names. */
function namesFiles(subject: CommandAnalysis): boolean {
  const { operands, options } = parseArguments(wordsAfter(subject, 'checkout'), { options: CHECKOUT_OPTIONS });
  const isOfBranch = options.some(({ name }) => Object.hasOwn(CHECKOUT_OPTIONS, name));
  // `--theirs` and `--ours` replace only the conflicted result of a merge, which is not the work of either side.
  if (isOfBranch || options.some(({ name }) => name === '--theirs' || name === '--ours')) return false;
  return operands.length > 1 || operands.some(({ shape }) => /\/$|\.(?:[chmrs]|[A-Za-z]{2,4})$/.test(shape));
}

/** `clean`: with `-n` it only lists what it would delete. */
export function judgeGitClean(subject: CommandAnalysis): void {
  const { options, operands } = parseArguments(wordsAfter(subject, 'clean'), { options: valued('-e --exclude') });
  if (options.some(({ name }) => name === '-n' || name === '--dry-run')) return;
  const isPlain = subject.args[0]?.value === 'clean' && operands.every(({ shape }) => isPlainFile(shape));
  const files = operands.length > 0 ? operands : [literal('.')];
  // Given twice, the option makes git delete other repositories as well.
  const sparesGit = options.filter(({ name }) => name === '-f' || name === '--force').length < 2;
  subject.addDiscarded('git clean discards work', isPlain && sparesGit ? files : []);
}

/** `reset`: changes the index, or also the files. */
export function judgeGitReset(subject: CommandAnalysis): void {
  const isHard = subject.args.some(({ shape }) => /^--(?:h|m|k)/.test(shape) && !shape.startsWith('--mi'));
  if (isHard) subject.add('destructive', 'git discards changes to files');
  if (subject.args.some(({ value }) => value === undefined))
    subject.add('destructive', 'git may discard changes to files');
}

/** `push`: `+branch` forces, `:branch` deletes; an address instead of a remote's name is another destination. */
export function judgeGitPush(subject: CommandAnalysis): void {
  const address = wordsAfter(subject, 'push').find(({ shape }) =>
    /^(?:\w+:\/\/|[\w.-]+@[\w.-]+:|[\w.-]+:[^:]*\/)/.test(shape),
  );
  if (address) subject.add('exfiltration', `git push sends the repository to an address: ${address.text}`);
  for (const { shape } of wordsAfter(subject, 'push')) {
    if (/^[+:]./.test(shape)) subject.add('destructive', `git overwrites or deletes commits of others: ${shape}`);
  }
}

/** `submodule foreach`: the words are joined to a text for a shell. */
export function judgeGitForeach(subject: CommandAnalysis): void {
  const words = wordsAfter(subject, 'foreach').filter(({ shape }) => shape !== '--recursive' && shape !== '--quiet');
  const unknown = words.find(({ value }) => value === undefined);
  if (unknown) subject.addUnknown(unknown, 'the command that git submodule foreach runs');
  else
    subject.inquiry.judgeText(words.map(({ value }) => value).join(' '), {
      ...subject.scope,
      directories: [undefined],
    });
}

/** `diff` of two directories, which need not be in a repository: it reads all that is in them. */
export function judgeGitDiff(subject: CommandAnalysis): void {
  if (!subject.args.some(({ value }) => value === '--no-index')) return;
  for (const place of wordsAfter(subject, 'diff')) if (!place.shape.startsWith('-')) subject.readTree(place);
}

/** `grep --no-index`: walks through directories as grep does. */
export function judgeGitGrep(subject: CommandAnalysis): void {
  if (!subject.args.some(({ value }) => value === '--no-index')) return;
  const words = wordsAfter(subject, 'grep').filter(({ shape }) => !shape.startsWith('-'));
  for (const place of words.length > 1 ? words.slice(1) : [literal('.')]) subject.readTree(place);
}

/** `bundle create`: the file comes before the revisions. */
export function judgeGitBundle(subject: CommandAnalysis): void {
  const file = wordsAfter(subject, 'create').find(({ shape }) => !shape.startsWith('-'));
  if (file) subject.write(file);
}

function wordsAfter({ args }: CommandAnalysis, name: string): readonly Argument[] {
  return args.slice(args.findIndex(({ value }) => value === name) + 1);
}
