import type { Directory } from '../../model/facts.js';
import { type Argument, literal } from '../../words/argument.js';
import { parseArguments } from '../../subject/options.js';
import { kindOf } from '../../paths/path-kinds.js';
import { resolvePath } from '../../paths/paths.js';
import { each, flags, type ProgramCall, valued } from '../../subject/program-spec.js';
import { subcommandsIn } from '../../subject/subcommands.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';

/** Settings that make git run programs or read other settings. Source: git-config(1). */
export const RUNNING_SETTING =
  /^(?:core\.(?:pager|editor|fsmonitor|sshcommand|hookspath|askpass|gitproxy|attributesfile|worktree|alternaterefscommand)|alias\..*|pager\..*|.*\.(?:command|textconv|process|clean|smudge|driver|cmd|program|path|helper|proxy|uploadpack|receivepack|vcs|packobjectshook)|diff\.external|gpg\..*|sequence\.editor|interactive\.difffilter|include\.path|includeif\..*|url\..*|protocol\..*|init\.templatedir|browser\..*|man\..*|web\.browser|instaweb\..*|imap\.tunnel|guitool\..*|sendemail\..*|submodule\..*|trailer\..*|remote\..*|extensions\..*|safe\..*)$/i;

/** Options before git's subcommand. */
export const GIT_OPTIONS = {
  ...valued('-c --config-env -C --git-dir --work-tree --namespace --super-prefix --attr-source --list-cmds'),
  ...each('--exec-path', { class: 'obfuscated', reason: 'runs other programs', value: 'text' } as const),
  ...flags('-p -P -h -v --paginate --no-pager --bare --no-replace-objects --literal-pathspecs --glob-pathspecs'),
  ...flags('--noglob-pathspecs --icase-pathspecs --no-optional-locks --no-lazy-fetch --no-advice --version --help'),
} as const;

/** Options before git's subcommand: settings for this call. */
export function judgeGit(subject: CommandAnalysis, { args, options }: ProgramCall): void {
  if (args.some(({ shape }) => /^(?:--\w+=)?ext::/.test(shape)))
    subject.add('obfuscated', 'git runs a program to reach a repository');
  let { directories } = subject.scope;
  subject.noteRepositories(directories);
  for (const { name, value } of options) {
    judgeCallOption(subject, name, value);
    if (name !== '-C') continue;
    directories = value?.value === undefined ? [undefined] : resolvePath(value.value, directories);
    subject.noteRepositories(directories);
  }
  if (directories !== subject.scope.directories) judgeThere(subject, args, directories);
}

/** An option that gives a setting for this call, or that names another repository. */
function judgeCallOption(subject: CommandAnalysis, name: string, value: Argument | undefined): void {
  if (name === '--bare') subject.add('obfuscated', 'git --bare uses the directory as a repository');
  if (name === '--git-dir' || name === '--work-tree') judgePlace(subject, name, value);
  if ((name === '-c' || name === '--config-env') && value) judgeSetting(subject, value.shape);
}

/** Judges a command in the directory that `-C` names. */
function judgeThere(subject: CommandAnalysis, args: readonly Argument[], directories: readonly Directory[]): void {
  const { length } = args;
  const [first] = subcommandsIn(args, GIT_OPTIONS);
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

/** `checkout`, `switch`, `restore`: operate on branches, or on files, whose changes are lost. */
export function judgeGitCheckout(subject: CommandAnalysis, call: ProgramCall): void {
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
  const { operands, options } = parseArguments(args, { options: CHECKOUT_OPTIONS });
  const isOfBranch = options.some(({ name }) => Object.hasOwn(CHECKOUT_OPTIONS, name));
  // `--theirs` and `--ours` replace only the conflicted result of a merge, which is not the work of either side.
  if (isOfBranch || options.some(({ name }) => name === '--theirs' || name === '--ours')) return false;
  return operands.length > 1 || operands.some(({ shape }) => /\/$|\.(?:[chmrs]|[A-Za-z]{2,4})$/.test(shape));
}

/** `clean`: with `-n` it only lists what it would delete. */
export function judgeGitClean(subject: CommandAnalysis, { args, options, operands }: ProgramCall): void {
  if (options.some(({ name }) => name === '-n' || name === '--dry-run')) return;
  const isPlain = isWithoutOptions(subject, args) && operands.every(({ shape }) => isPlainFile(shape));
  const files = operands.length > 0 ? operands : [literal('.')];
  // Given twice, the option makes git delete other repositories as well.
  const sparesGit = options.filter(({ name }) => name === '-f' || name === '--force').length < 2;
  subject.addDiscarded('git clean discards work', isPlain && sparesGit ? files : []);
}

/** `reset`: changes the index, or also the files. */
export function judgeGitReset(subject: CommandAnalysis, { args }: ProgramCall): void {
  const isHard = args.some(({ shape }) => /^--(?:h|m|k)/.test(shape) && !shape.startsWith('--mi'));
  if (isHard) subject.add('destructive', 'git discards changes to files');
  if (args.some(({ value }) => value === undefined)) subject.add('destructive', 'git may discard changes to files');
}

/** `push`: `+branch` forces, `:branch` deletes; an address instead of a remote's name is another destination. */
export function judgeGitPush(subject: CommandAnalysis, { args }: ProgramCall): void {
  const address = args.find(({ shape }) => /^(?:\w+:\/\/|[\w.-]+@[\w.-]+:|[\w.-]+:[^:]*\/)/.test(shape));
  if (address) subject.add('exfiltration', `git push sends the repository to an address: ${address.text}`);
  for (const { shape } of args) {
    if (/^[+:]./.test(shape)) subject.add('destructive', `git overwrites or deletes commits of others: ${shape}`);
  }
}

/** `submodule foreach`: the words are joined to a text for a shell. */
export function judgeGitForeach(subject: CommandAnalysis, { args }: ProgramCall): void {
  const words = args.filter(({ shape }) => shape !== '--recursive' && shape !== '--quiet');
  const unknown = words.find(({ value }) => value === undefined);
  if (unknown) subject.addUnknown(unknown, 'the command that git submodule foreach runs');
  else
    subject.inquiry.judgeText(words.map(({ value }) => value).join(' '), {
      ...subject.scope,
      directories: [undefined],
    });
}

/** `diff` of two directories, which need not be in a repository: it reads all that is in them. */
export function judgeGitDiff(subject: CommandAnalysis, { args }: ProgramCall): void {
  if (!args.some(({ value }) => value === '--no-index')) return;
  for (const place of args) if (!place.shape.startsWith('-')) subject.readTree(place);
}

/** `grep --no-index`: walks through directories as grep does. */
export function judgeGitGrep(subject: CommandAnalysis, { args }: ProgramCall): void {
  if (!args.some(({ value }) => value === '--no-index')) return;
  const words = args.filter(({ shape }) => !shape.startsWith('-'));
  for (const place of words.length > 1 ? words.slice(1) : [literal('.')]) subject.readTree(place);
}

/** `bundle create`: the file comes before the revisions. */
export function judgeGitBundle(subject: CommandAnalysis, { operands: [file] }: ProgramCall): void {
  if (file) subject.write(file);
}
