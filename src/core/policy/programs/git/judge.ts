import type { Argument } from '../../words/argument.js';
import { parseArguments, tailOf } from '../../subject/options.js';
import { kindOf } from '../../paths/path-kinds.js';
import { resolvePath } from '../../paths/paths.js';
import { valued } from '../../subject/program-spec.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';

/** Settings that make git run programs or read other settings. Source: git-config(1). */
const RUNNING_SETTING =
  /^(?:core\.(?:pager|editor|fsmonitor|sshcommand|hookspath|askpass|gitproxy|attributesfile|worktree|alternaterefscommand)|alias\..*|pager\..*|.*\.(?:command|textconv|process|clean|smudge|driver|cmd|program|path|helper|proxy|uploadpack|receivepack|vcs|packobjectshook)|diff\.external|gpg\..*|sequence\.editor|interactive\.difffilter|include\.path|includeif\..*|url\..*|protocol\..*|init\.templatedir|browser\..*|man\..*|web\.browser|sendemail\..*|submodule\..*|trailer\..*|remote\..*|extensions\..*|safe\..*)$/i;

/** Options before git's subcommand: settings for this call. */
export function judgeGit(subject: CommandAnalysis): void {
  const { args } = subject;
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index];
    const shape = arg?.shape ?? '';
    if (args.some((word) => /^(?:--\w+=)?ext::/.test(word.shape))) {
      subject.add('obfuscated', 'git runs a program to reach a repository');
    }
    if (!shape.startsWith('-')) return;
    const attached = /^(?:-c|--config-env=?)(.+)$/s.exec(shape)?.[1];
    const [place] = /^--(?:git-dir|work-tree)(?==|$)/.exec(shape) ?? [];
    if (place !== undefined && arg)
      judgePlace(subject, place, shape === place ? args[index + 1] : tailOf(arg, place.length + 1));
    const isSetting = shape === '-c' || shape === '--config-env';
    const setting = isSetting ? args[index + 1]?.shape : attached;
    if (setting !== undefined) judgeSetting(subject, setting);
    if (isSetting || ['-C', '--git-dir', '--work-tree', '--namespace', '--exec-path'].includes(shape)) index += 1;
  }
}

/** Another repository has its own settings, and another work tree is changed. */
function judgePlace(subject: CommandAnalysis, option: string, value: Argument | undefined): void {
  const { inquiry, scope } = subject;
  const paths = value?.value === undefined ? [undefined] : resolvePath(value.value, scope.directories);
  if (paths.every((path) => kindOf(path, inquiry.facts) === 'workspace')) return;
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
  if (words.some(({ value }) => value !== undefined && READING_CONFIG.test(value))) return;
  const names = words.filter(({ shape }) => !shape.startsWith('-') && !['set', 'unset'].includes(shape));
  const [key] = names;
  if (key?.value === undefined || RUNNING_SETTING.test(key.value)) {
    if (names.length > 1 || words.length > names.length)
      subject.add('persistence', `git will run a program that a setting names: ${key?.text ?? ''}`);
  }
  words.forEach(({ shape }, index) => {
    const file = /^(?:-f|--file)$/.test(shape) ? words[index + 1] : undefined;
    if (file) subject.write(file);
    else if (shape.startsWith('--file=') && words[index]) subject.write(tailOf(words[index], '--file='.length));
  });
  if (words.some(({ value }) => value === '--global' || value === '--system') && names.length > 1) {
    subject.add('persistence', 'git config changes a setting for all repositories');
  }
}

/** `checkout`, `switch`, `restore`: operate on branches, or on files, whose changes are lost. */
export function judgeGitCheckout(subject: CommandAnalysis): void {
  const words = subject.args.map(({ shape }) => shape);
  const has = (...names: readonly string[]) => names.some((name) => words.includes(name));
  const isRestore = has('restore') && (!has('--staged', '-S') || has('--worktree', '-W'));
  const isOfFiles = has('checkout') && namesFiles(subject);
  if (isRestore || isOfFiles || has('--', '.')) subject.add('destructive', 'git discards changes to files');
}

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
  const { options } = parseArguments(wordsAfter(subject, 'clean'), { options: valued('-e --exclude') });
  if (!options.some(({ name }) => name === '-n' || name === '--dry-run'))
    subject.add('destructive', 'git clean discards work');
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

function wordsAfter({ args }: CommandAnalysis, name: string): readonly Argument[] {
  return args.slice(args.findIndex(({ value }) => value === name) + 1);
}
