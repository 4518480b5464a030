import { normalizePath } from '../paths.js';
import type { ProgramFamily } from '../program-catalog.js';
import { SETS_ZSH_NAMES } from '../subject/assignments.js';
import type { CommandAnalysis } from '../subject/command-analysis.js';
import { DESCRIPTOR, isInputName, judgeWrittenScript } from '../subject/inline-source.js';
import { tailOf } from '../subject/options.js';
import type { Argument } from '../words/argument.js';

const ENTRIES = String.raw`
sh bash dash ash ksh mksh zsh rbash yash <text>: read
  -o -O --rcfile --init-file --emulate = text
  rule shell
  typed shell repl ends /^-[A-Za-z]*c/ stays /^-[A-Za-z]*[is]/
  is shell
  is runnable of sh bash dash ksh zsh
  is versioned of bash ksh zsh
  e.g. bash -c 'ls': read; sh script.sh: execute; curl example.com | sh: obfuscated; zsh: interactive; \
      dash -c 'rm x': destructive
fish csh tcsh nu elvish xonsh <text>: read
  -C = text
  rule foreignShell
  typed code repl ends /^-[A-Za-z]*c|^-v$/ stays /^-i$/
  e.g. fish -c 'ls': obfuscated; fish: obfuscated
pwsh powershell <text>: read
  rule foreignShell
  typed code repl ends /^-(?:c|command|f|file|enc)/i stays /^-noexit$/i
  e.g. pwsh: obfuscated
`;

/** Options that take a separate value. */
const VALUED = new Set(['-o', '+o', '-O', '+O', '--rcfile', '--init-file', '--emulate']);

/** zsh's long form of `-s`. */
const INPUT_OPTION = /^--sh_?in_?stdin$/i;

/** The program that the arguments of a shell select. */
interface ShellCall {
  readonly command: Argument | undefined;
  readonly script: Argument | undefined;
  readonly startFile: Argument | undefined;
  /** Whether its input is the script even when operands are given. */
  readonly readsInput: boolean;
}

function readCall(args: readonly Argument[]): ShellCall {
  const { options, operand } = splitArguments(args);
  const takesCommand = options.some(({ arg }) => /^-[A-Za-z]*c/.test(arg.shape));
  return {
    command: takesCommand ? operand : undefined,
    script: takesCommand ? undefined : operand,
    startFile: startFileOf(options),
    readsInput: options.some(selectsInput),
  };
}

/** An option of a shell, and the word after it, which may be its value. */
interface ShellOption {
  readonly arg: Argument;
  readonly next: Argument | undefined;
}

/** Splits the arguments at the first operand; what follows it belongs to the script. */
function splitArguments(args: readonly Argument[]): {
  readonly options: readonly ShellOption[];
  readonly operand: Argument | undefined;
} {
  const options: ShellOption[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index];
    const next = args[index + 1];
    if (arg?.shape === '--') return { options, operand: next };
    if (!arg || !/^[-+]./.test(arg.shape)) return { options, operand: arg };
    options.push({ arg, next });
    if (takesValue(arg)) index += 1;
  }
  return { options, operand: undefined };
}

/** Whether the next word is the value: after `-o`, or a cluster that ends in `o`. */
const takesValue = ({ shape }: Argument): boolean => VALUED.has(shape) || /^[-+][A-Za-z]*[oO]$/.test(shape);

/** A file that the shell runs first. */
function startFileOf(options: readonly ShellOption[]): Argument | undefined {
  const option = options.findLast(({ arg }) => /^--(?:rcfile|init-file)/.test(arg.shape));
  if (!option) return undefined;
  const { arg, next } = option;
  return arg.shape.includes('=') ? tailOf(arg, arg.shape.indexOf('=') + 1) : next;
}

/** Whether an option makes the shell read its script from standard input: `-s`, `-o shinstdin`. */
function selectsInput({ arg, next }: ShellOption): boolean {
  if (/^-[A-Za-z]*s/.test(arg.shape) || INPUT_OPTION.test(arg.shape)) return true;
  return takesValue(arg) && INPUT_OPTION.test(`--${next?.shape ?? ''}`);
}

/** Judges a shell with another language than the parser's. */
function judgeForeignShell(subject: CommandAnalysis): void {
  subject.causes('is a shell whose language cannot be judged');
  judgeShell(subject);
}

/** Judges a shell: the text, script or input that it runs. */
function judgeShell(subject: CommandAnalysis): void {
  const label = subject.program ?? 'it';
  const { command, script, startFile, readsInput } = readCall(subject.args);
  if (startFile) subject.causes('runs a start-up file first', startFile.text);
  if (command) {
    judgeZshNames(subject, command);
    subject.runText(command, `the command that ${label} runs`);
  } else if (readsInput || !script || isInputName(script.value)) judgeInput(subject, label);
  else judgeScript(subject, label, script);
}

/** zsh keeps the places of programs in variables that mean nothing to the shell of the session. */
function judgeZshNames(subject: CommandAnalysis, { shape }: Argument): void {
  const isOnlyZsh = subject.program === 'zsh' && subject.inquiry.facts.shell !== 'zsh';
  if (isOnlyZsh && SETS_ZSH_NAMES.test(shape))
    subject.causes('changes where zsh finds programs', '', 'the command for zsh');
}

function judgeScript(subject: CommandAnalysis, label: string, script: Argument): void {
  const path = script.shape.startsWith('/') ? normalizePath(script.shape, '/') : script.shape;
  if (DESCRIPTOR.test(path)) subject.causes('runs code from a file descriptor', script.text);
  else if (script.isProcess) subject.causes('runs the output of another command');
  else if (script.value === undefined) subject.addUnknown(script, `the script that ${label} runs`);
  else {
    subject.does('runs a script', script.value);
    subject.read(script);
    subject.noteScript(script);
    judgeWrittenScript(subject, label, script);
  }
}

/** Judges the standard input that a shell reads as its program. */
function judgeInput(subject: CommandAnalysis, label: string): void {
  const { stdin } = subject.command;
  switch (stdin?.kind) {
    case 'text':
      if (!stdin.isCertain) subject.causes('runs a script of which a part is known only at run time');
      subject.inquiry.judgeText(stdin.text, { ...subject.scope, stdin: undefined });
      return;
    case 'file':
      if (stdin.file.value === undefined) subject.addUnknown(stdin.file, `the script that ${label} runs`);
      subject.does('runs a script', stdin.file.text);
      subject.noteScript(stdin.file);
      judgeWrittenScript(subject, label, stdin.file);
      return;
    case 'unknown':
      subject.causes('runs input from {what}', stdin.what);
      return;
    case undefined:
      subject.does('starts a shell');
  }
}

export const SHELLS: ProgramFamily = {
  name: 'shells',
  entries: ENTRIES,
  rules: { judges: { shell: judgeShell, foreignShell: judgeForeignShell } },
  startupPaths: `
    .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout
    .kshrc .cshrc .tcshrc .inputrc ~/.bashrc.d/** ~/.config/fish/**
  `,
};

const EDITOR_ENTRIES = String.raw`
vi vim nvim view rvim vimdiff gvim <write>: write
  -c --cmd -S -s -u -U -W -w -l -es --listen = code
  -t -T -i = text
  when /^\+\D/ ! obfuscated an editor runs commands
  when input /^-[a-zA-Z]*[eE]/ ! obfuscated {it} runs commands from its input
  typed code on terminal always of vi vim nvim view rvim vimdiff
  e.g. vim --version: write; vim x: interactive; gvim x: write
ex <write>: write
  like vi
  when input ! obfuscated {it} runs commands from its input
  typed code always
  e.g. ex x: interactive; ex -c '!rm x': obfuscated
%emacs: read
  -e --eval --execute -l --load -f --funcall --script -x -batch --batch --insert = code
emacs emacsclient kak <write>: execute
  like %emacs
  typed code on terminal unless /^--?batch$/ of emacs
  typed code on terminal always of kak
  e.g. emacs x: interactive; emacs --batch --eval x: obfuscated; emacsclient x: execute; kak x: interactive
nano pico micro joe ed red <write>: write
  -s --speller -command = shell ! execute
  when input ! obfuscated an editor runs commands from its input
  typed code on terminal always of nano pico micro joe
  typed code always of ed red
  e.g. nano x: interactive; ed x: interactive
jed hx helix:
  typed code on terminal always
`;

/** Editors of text: they run commands that are typed, or that their options and input give them. */
export const EDITORS: ProgramFamily = {
  name: 'editors',
  entries: EDITOR_ENTRIES,
  variables: [
    { names: /^(?:VIMINIT|EXINIT|NVIM_APPNAME)$/, class: 'obfuscated', what: 'makes an interpreter run other code' },
  ],
  startupPaths: `
    .vimrc .exrc .nvimrc .nvim.lua .gvimrc .dir-locals.el ~/.emacs* ~/.vim/** ~/.config/nvim/** /**/.vscode/**
    /**/.idea/** /**/.zed/** /**/.fleet/** *.code-workspace ~/.config/Code/** /**/.devcontainer/**
    .devcontainer.json .gitpod.yml
  `,
};
