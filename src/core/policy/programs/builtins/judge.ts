import { type Argument, UNKNOWN } from '../../words/argument.js';
import { judgeAssignments, noteVariable } from '../../subject/assignments.js';
import { HIDDEN_COMMAND } from '../../subject/expansions.js';
import { kindOf } from '../../paths/path-kinds.js';
import { resolvePath } from '../../paths/paths.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';

const ASSIGNMENT = /^([A-Za-z_]\w*)(\[[^\]]*\])?\+?=/;

/** Substitutions whose output is meant for `eval`. The commands in them are judged by themselves. */
const SHELL_SETUP =
  /^"?\$\((?:ssh-agent(?: -[sc])?|direnv hook (?:ba|z)sh|(?:py|rb|nod|go|j)env init(?: --?\w*)*|brew shellenv|(?:starship|zoxide) init (?:ba|z)sh|mise activate (?:ba|z)sh|fnm env(?: --[\w-]+)*|dircolors(?: -b)?)\)"?$/;

/** Scripts in the home directory with which tools set themselves up in a shell. To write one, or to set HOME, is asked about. */
const SETUP_SCRIPT =
  /^(?:~|"?\$HOME|"?\$\{HOME\})\/(?:\.nvm\/nvm\.sh|\.cargo\/env|\.sdkman\/bin\/sdkman-init\.sh|\.asdf\/asdf\.sh|\.local\/bin\/env|\.ghcup\/env)"?$/;

/** `eval`: its words, joined with blanks, are text for the same shell. */
export function judgeEval(subject: CommandAnalysis): void {
  const words = subject.args.filter(({ shape }, index) => index > 0 || shape !== '--');
  const unknown = words.find(({ value, isSample, isGlob }) => value === undefined || isSample || isGlob);
  const [first, ...others] = words;
  if (first && others.length === 0 && SHELL_SETUP.test(first.text)) {
    subject.add('execute', `sets up a tool in the shell: ${first.text}`);
    subject.inquiry.noteNamesChange();
    return;
  }
  if (unknown) {
    subject.addUnknown(unknown, 'the text that eval runs');
    subject.inquiry.noteNamesChange();
  }
  const text = words.map(({ value, shape }) => value ?? shape.replaceAll(UNKNOWN, '$unknown')).join(' ');
  const { stdin } = subject.command;
  if (text.trim() !== '') subject.inquiry.judgeText(text, { ...subject.scope, stdin });
}

/** `source`: the file runs in the session's own shell. */
export function judgeSource(subject: CommandAnalysis): void {
  const [file, ...others] = subject.args.filter(({ shape }) => shape !== '--');
  if (!file) return;
  if (others.length === 0 && isActivation(subject, file))
    subject.add('execute', `activates a Python environment in the shell: ${file.text}`);
  else if (others.length === 0 && SETUP_SCRIPT.test(file.text))
    subject.add('execute', `sets up a tool in the shell: ${file.text}`);
  else subject.add('obfuscated', `runs a file in the shell of the session, which may change its state: ${file.text}`);
  if (file.isProcess) subject.addSideEffect('obfuscated', 'runs the output of another command');
  subject.read(file);
  subject.noteScript(file);
  subject.inquiry.noteNamesChange();
}

/**
 * Whether a file is the activation script of a Python virtual environment in the workspace, and is not written by this
 * text.
 */
function isActivation({ inquiry, scope }: CommandAnalysis, file: Argument): boolean {
  if (file.value === undefined || file.isGlob || file.isSample || !/(?:^|\/)bin\/activate$/.test(file.value))
    return false;
  const isInWorkspace = (path: string | undefined) => kindOf(path, inquiry.facts) === 'workspace';
  return (
    resolvePath(file.value, scope.directories).every(isInWorkspace) && !inquiry.written.find(file, scope.directories)
  );
}

/** `alias`: its text is judged now, and again where the alias is used. */
export function judgeAlias(subject: CommandAnalysis): void {
  for (const arg of subject.args) {
    if (arg.shape.startsWith('-') && arg.shape !== '-p' && arg.shape !== '-L') {
      subject.add('obfuscated', `alias ${arg.text} changes how all later text is parsed`);
      subject.inquiry.noteNamesChange();
    }
    const equals = arg.shape.indexOf('=');
    if (equals <= 0) continue;
    subject.inquiry.noteNamesChange();
    if (arg.value === undefined || arg.isGlob) subject.addUnknown(arg, 'the text of an alias');
    else {
      const text = arg.value.slice(equals + 1);
      subject.inquiry.noteAlias(arg.value.slice(0, equals), text);
      subject.inquiry.judgeText(text, subject.scope);
    }
  }
}

/** `trap`: its first word is run at a signal, an error or the exit of the shell. */
export function judgeTrap(subject: CommandAnalysis): void {
  const words = subject.args.filter(({ shape }) => !/^-[lpP]*$/.test(shape) && shape !== '--');
  const [action, ...signals] = words;
  if (!action || signals.length === 0 || action.value === '') return;
  // In a session, other commands may change its variables before it runs.
  const { scope, inquiry } = subject;
  const lookup = inquiry.facts.isOneShot ? scope.lookup : () => undefined;
  subject.runText(action, 'the command of a trap', subject.command.stdin, { ...scope, lookup });
  subject.inquiry.noteNamesChange();
}

/** `export`, `declare` and similar builtins: assignments that follow the command. */
export function judgeDeclaration(subject: CommandAnalysis): void {
  judgeNames(subject);
  for (const { shape, value, text } of subject.args) {
    const [whole, name] = ASSIGNMENT.exec(shape) ?? [];
    if (name === undefined || whole === undefined) continue;
    judgeAssignments(subject, [
      { name, value: value?.slice(whole.length), shape: shape.slice(whole.length), text, isPrefix: false },
    ]);
  }
  if (subject.args.some(({ shape }) => /^-[A-Za-z]*[fF]/.test(shape))) subject.inquiry.noteNamesChange();
  judgeHidden(subject);
  const isReference = /^(?:declare|typeset|local)$/.test(subject.program ?? '');
  if (isReference && subject.args.some(({ shape }) => /^-[A-Za-z]*n/.test(shape))) judgeReferences(subject);
}

/** `export -n NAME`: programs do not see the variable any more. */
function judgeHidden(subject: CommandAnalysis): void {
  const hides = subject.args.some(({ shape }) => /^(?:-[A-Za-z]*n|\+[A-Za-z]*x)/.test(shape));
  if (hides && subject.args.some(({ shape }) => shape.startsWith('GIT_')))
    subject.add('obfuscated', 'takes away what protects git in checkouts');
}

/** `declare -n`: another name for a variable, through which it is set later. */
function judgeReferences(subject: CommandAnalysis): void {
  for (const arg of subject.args) {
    const equals = arg.shape.indexOf('=');
    if (equals <= 0) continue;
    if (arg.value === undefined) subject.addUnknown(arg, 'the variable to which a name refers');
    else noteVariable(arg.value.slice(equals + 1), subject.inquiry);
  }
}

/** These builtins evaluate variable names as expressions: a subscript may run a command. */
export function judgeNames(subject: CommandAnalysis): void {
  const takesAny = subject.program === 'let' || subject.program === 'unset' || subject.program === 'read';
  subject.args.forEach((arg, index) => {
    if (!isName(subject, arg, index, takesAny)) return;
    if (arg.value === undefined && !ASSIGNMENT.test(arg.shape)) {
      subject.addUnknown(arg, `a name for ${subject.program ?? 'it'}`);
    } else if (HIDDEN_COMMAND.test(arg.shape)) {
      subject.addSideEffect('obfuscated', `a subscript may run a command: ${arg.text}`);
    }
  });
  if (subject.program === 'unset') judgeUnset(subject);
  if (SETTERS.has(subject.program ?? '')) noteNames(subject, takesAny);
}

/** Builtins that set the variables whose names they are given. */
const SETTERS = new Set(['read', 'printf', 'getopts', 'mapfile', 'readarray', 'vared', 'wait']);

function noteNames(subject: CommandAnalysis, takesAny: boolean): void {
  subject.args.forEach((arg, index) => {
    if (!isName(subject, arg, index, takesAny)) return;
    noteVariable(
      arg.shape.replace(subject.program === 'printf' ? /^-v/ : /^-[au]/, '').replace(/\[.*/s, ''),
      subject.inquiry,
    );
  });
}

/** Builtins of which only the word after an option is a name. */
const NAMING_OPTIONS: Readonly<Record<string, RegExp>> = {
  printf: /^-v$/,
  test: /^-[vR]$/,
  '[': /^-[vR]$/,
  wait: /^-p$/,
};

function isName({ program, args }: CommandAnalysis, { shape }: Argument, index: number, takesAny: boolean): boolean {
  const option = NAMING_OPTIONS[program ?? ''];
  if (!option) return takesAny || !shape.startsWith('-');
  return option.test(args[index - 1]?.shape ?? '') || (program === 'printf' && shape.startsWith('-v'));
}

/**
 * zsh's `print`: it may set a variable, push text to the input buffer, or expand its text as a prompt, which may
 * contain commands.
 */
export function judgePrint(subject: CommandAnalysis): void {
  const flags = subject.args.filter(({ shape }) => /^-[A-Za-z]/.test(shape)).map(({ shape }) => shape);
  if (flags.some((flag) => /^-[A-Za-z]*[szS]/.test(flag)))
    subject.add('obfuscated', 'print adds text to the input of the shell or to its history');
  subject.args.forEach(({ shape }, index) => {
    const before = subject.args[index - 1]?.shape ?? '';
    if (/^-[A-Za-z]*v$/.test(before)) noteVariable(shape.replace(/\[.*/s, ''), subject.inquiry);
    if (flags.some((flag) => flag.includes('P')) && /\$\(|`|\$\{|\0/.test(shape))
      subject.add('obfuscated', 'print expands its text as a prompt, which may run commands');
  });
}

function judgeUnset(subject: CommandAnalysis): void {
  subject.inquiry.noteNamesChange();
  for (const { value } of subject.args) {
    if (value === undefined || /^(?:PATH|HISTFILE|HISTSIZE|HOME|GIT_CONFIG_\w+|GIT_OPTIONAL_LOCKS)$/.test(value)) {
      subject.add('obfuscated', `unset changes how later commands run or are recorded: ${value ?? '?'}`);
    }
  }
}

/** Options that change the meaning of words or directory names, or the parsing of texts. */
const MISLEADING =
  /^(?:no)?(?:keyword|autocd|cdablevars|cdspell|promptsubst|rcquotes|cshjunkiequotes|ignorebraces|ignoreclosebraces|shfileexpansion|globsubst|shwordsplit|kshglob|shglob|banghist|shinstdin)$/;

/** `set` and `shopt`: most options affect only the session. */
export function judgeHistory(subject: CommandAnalysis): void {
  const words = subject.args.map(({ shape }) => shape);
  if (words.includes('history') || words.includes('+H'))
    subject.add('obfuscated', 'changes what the command history records');
  const end = words.indexOf('--');
  const options = end === -1 ? words : words.slice(0, end);
  if (options.some((word) => MISLEADING.test(word.toLowerCase().replaceAll('_', ''))))
    subject.add('obfuscated', 'changes the meaning of words');
  if (subject.program === 'set' && options.some((word) => /^-[A-Za-z]*k/.test(word)))
    subject.add('obfuscated', 'set -k changes the meaning of words');
  if (words.some((word) => /^(?:expand_aliases|aliases|posix|compat\d+|xtrace)$/.test(word)))
    subject.inquiry.noteNamesChange();
}
