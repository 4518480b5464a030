import { kindOf } from '../path-kinds.js';
import { normalizePath, resolvePath } from '../paths.js';
import type { ProgramFamily } from '../program-catalog.js';
import { judgeAssignments, noteVariable } from '../subject/assignments.js';
import type { CommandAnalysis } from '../subject/command-analysis.js';
import { HIDDEN_COMMAND } from '../subject/expansions.js';
import { knownValues } from '../subject/read-command.js';
import { type Argument, UNKNOWN } from '../words/argument.js';
import type { DirectoryChange, KnownOutput } from '../words/program-knowledge.js';

const ENTRIES = String.raw`
: dirs jobs fg bg disown umask ulimit times type help exit return break continue shift caller suspend logout bye \
    limit unlimit rehash where whence <text>: read
  is builtin
  e.g. jobs: read
echo <text>: read
  is builtin unread
  prints echoed
  e.g. echo hello: read
cd pushd popd <text>: read
  is builtin
  enters home of cd
  enters directory of pushd
  enters unknown of popd
  e.g. cd x: read
chdir: read
  runs after 1, elsewhere
  is builtin
  enters directory
  e.g. chdir / rm x: destructive
printf <text>: read
  rule names
  is builtin unread
  prints printed
  e.g. printf -v PATH %s /x: obfuscated
print <text>: read
  rule print
  is builtin
  e.g. print -l a b: read
read let unset getopts test [ vared integer float wait <text>: read
  rule names
  is builtin
  is metadata of test [
  e.g. unset -f f: read
declare typeset export readonly local <text>: read
  rule declaration
  is builtin
  e.g. export PATH=/x: obfuscated
eval <text>: read
  rule eval
  is builtin runnable
  e.g. eval "$x": obfuscated
source . <text>: read
  rule source
  is builtin
  e.g. source x: obfuscated
alias <text>: read
  rule alias
  is builtin
  e.g. alias a=b: execute
trap <text>: read
  rule trap
  is builtin
  e.g. trap ls INT: read
unalias unfunction unhash <text>: read
  rule changesNames
  is builtin
  e.g. unalias a: read
set shopt setopt unsetopt <text>: read
  rule shellOptions
  is builtin
  e.g. set -k: obfuscated
mapfile readarray <text>: read
  -C = shell
  -d -n -O -s -u -c = text
  rule names
  is builtin
  e.g. mapfile -C 'rm x' a: destructive
complete <text>: read
  -C = shell
  -F -A -G -W -P -S -X -o = text
  is builtin
  e.g. complete -C 'rm x' ls: destructive
compgen <text>: read
  -C = shell
  -F -A -G -P -S -X -o = text
  -W = code
  is builtin
  e.g. compgen -C 'rm x': destructive
bind <text>: read
  -x = text ! obfuscated binds a command to a key
  -f = text ! obfuscated
  is builtin
  e.g. bind -x '"a": rm x': obfuscated
hash <text>: read
  -p = text ! obfuscated changes which program a name refers to
  rule hash
  is builtin
  e.g. hash ls=/bin/rm: obfuscated
enable <text>: execute
  -f = text ! obfuscated loads code into the shell
  rule changesNames
  is builtin
  e.g. enable -f x y: obfuscated
history <text>: read
  -c -d -w -a -n -r -s = text ! obfuscated changes the command history
  -p
  is builtin
  e.g. history -c: obfuscated
fc <text>: obfuscated runs commands from the history
  -l
  is builtin
  e.g. fc -s: obfuscated
r <text>: execute
  is builtin
  e.g. r x: execute
emulate <text>: obfuscated changes how the shell reads text
  -c = shell
  is builtin
  e.g. emulate sh -c 'rm x': obfuscated
zmodload autoload zle sched zcompile zargs bindkey functions disable zstyle zformat ztcp zsocket zpty zf_rm zf_mv \
    zf_ln zf_chmod zf_chown <text>: obfuscated changes the shell itself
  rule changesNames
  is builtin
  e.g. zmodload zsh/files: obfuscated
builtin noglob nocorrect -: read
  runs
  is prefix
  e.g. builtin eval 'rm x': destructive; noglob rm x: destructive
command: read
  runs asks -v -V
  is prefix
  e.g. command rm x: destructive
exec: read
  runs redirects-shell
  -a = text
  is prefix
  e.g. exec zsh: interactive
repeat: read
  runs after 1
  e.g. repeat 3 rm x: destructive
`;

/** The escapes of a format that all shells resolve alike: sh leaves `\x72` as it stands, for one. */
const ESCAPES: Readonly<Record<string, string>> = {
  '\\\\': '\\',
  '\\a': '\x07',
  '\\b': '\b',
  '\\f': '\f',
  '\\n': '\n',
  '\\r': '\r',
  '\\t': '\t',
  '\\v': '\v',
};
const PIECES = /(%[\s\S]?|\\[0-7]{1,3}|\\[\s\S]?)/;
/** Longest text that is worked out, in characters: a format is repeated for its arguments. */
const MAX_LENGTH = 65_536;

/**
 * The output of `printf FORMAT ARGUMENT...`, whose format is repeated until no argument is left.
 * @returns undefined where it has conversions other than `%s` and `%%`, or escapes that shells differ about
 */
export function formatted(format: string, args: readonly string[]): string | undefined {
  const pieces = format.split(PIECES);
  const perRound = pieces.filter((piece) => piece === '%s').length;
  const rounds = perRound === 0 ? 1 : Math.max(1, Math.ceil(args.length / perRound));
  if (format.length * rounds > MAX_LENGTH) return undefined;
  const left = [...args];
  const texts = Array.from({ length: rounds }, () =>
    pieces.map((piece) => (piece === '%s' ? (left.shift() ?? '') : fixedText(piece))),
  ).flat();
  return texts.includes(undefined) ? undefined : texts.join('');
}

/** The text of a part of a format that takes no argument. */
function fixedText(piece: string): string | undefined {
  if (piece === '%%') return '%';
  if (piece.startsWith('%')) return undefined;
  if (!piece.startsWith('\\')) return piece;
  const code = /^\\([0-7]+)$/.exec(piece)?.[1];
  return code === undefined ? ESCAPES[piece] : asciiText(parseInt(code, 8));
}

/** A byte above is a part of a character, and of which is not known here. */
const asciiText = (code: number): string | undefined => (code < 0x80 ? String.fromCharCode(code) : undefined);

const ASSIGNMENT = /^([A-Za-z_]\w*)(\[[^\]]*\])?\+?=/;

/** Substitutions whose output is meant for `eval`. The commands in them are judged by themselves. */
const SHELL_SETUP =
  /^"?\$\((?:ssh-agent(?: -[sc])?|direnv hook (?:ba|z)sh|(?:py|rb|nod|go|j)env init(?: --?\w*)*|brew shellenv|(?:starship|zoxide) init (?:ba|z)sh|mise activate (?:ba|z)sh|fnm env(?: --[\w-]+)*|dircolors(?: -b)?)\)"?$/;

/** Scripts in the home directory with which tools set themselves up in a shell. To write one, or to set HOME, is asked about. */
const SETUP_SCRIPT =
  /^(?:~|"?\$HOME|"?\$\{HOME\})\/(?:\.nvm\/nvm\.sh|\.cargo\/env|\.sdkman\/bin\/sdkman-init\.sh|\.asdf\/asdf\.sh|\.local\/bin\/env|\.ghcup\/env)"?$/;

/** `eval`: its words, joined with blanks, are text for the same shell. */
function judgeEval(subject: CommandAnalysis): void {
  const words = subject.args.filter(({ shape }, index) => index > 0 || shape !== '--');
  const unknown = words.find(({ value, isSample, isGlob }) => value === undefined || isSample || isGlob);
  const [first, ...others] = words;
  if (first && others.length === 0 && SHELL_SETUP.test(first.text)) {
    subject.does('sets up a tool in the shell', first.text);
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
function judgeSource(subject: CommandAnalysis): void {
  const [file, ...others] = subject.args.filter(({ shape }) => shape !== '--');
  if (!file) return;
  if (others.length === 0 && isActivation(subject, file))
    subject.does('activates a Python environment in the shell', file.text, '');
  else if (others.length === 0 && SETUP_SCRIPT.test(file.text))
    subject.does('sets up a tool in the shell', file.text, '');
  else subject.does('runs a file in the shell of the session, which may change its state', file.text, '');
  if (file.isProcess) subject.causes('runs the output of another command', '', '');
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
function judgeAlias(subject: CommandAnalysis): void {
  for (const arg of subject.args) {
    if (arg.shape.startsWith('-') && arg.shape !== '-p' && arg.shape !== '-L') {
      subject.does('changes how all later text is parsed', arg.text);
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
function judgeTrap(subject: CommandAnalysis): void {
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
function judgeDeclaration(subject: CommandAnalysis): void {
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
    subject.does('takes away what protects git in checkouts');
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
function judgeNames(subject: CommandAnalysis): void {
  const takesAny = subject.program === 'let' || subject.program === 'unset' || subject.program === 'read';
  subject.args.forEach((arg, index) => {
    if (!isName(subject, arg, index, takesAny)) return;
    if (arg.value === undefined && !ASSIGNMENT.test(arg.shape)) {
      subject.addUnknown(arg, `a name for ${subject.program ?? 'it'}`);
    } else if (HIDDEN_COMMAND.test(arg.shape)) {
      subject.causes('a subscript may run a command', arg.text, '');
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
function judgePrint(subject: CommandAnalysis): void {
  const flags = subject.args.filter(({ shape }) => /^-[A-Za-z]/.test(shape)).map(({ shape }) => shape);
  if (flags.some((flag) => /^-[A-Za-z]*[szS]/.test(flag)))
    subject.does('adds text to the input of the shell or to its history');
  subject.args.forEach(({ shape }, index) => {
    const before = subject.args[index - 1]?.shape ?? '';
    if (/^-[A-Za-z]*v$/.test(before)) noteVariable(shape.replace(/\[.*/s, ''), subject.inquiry);
    if (flags.some((flag) => flag.includes('P')) && /\$\(|`|\$\{|\0/.test(shape))
      subject.does('expands its text as a prompt, which may run commands');
  });
}

function judgeUnset(subject: CommandAnalysis): void {
  subject.inquiry.noteNamesChange();
  for (const { value } of subject.args) {
    if (value === undefined || /^(?:PATH|HISTFILE|HISTSIZE|HOME|GIT_CONFIG_\w+|GIT_OPTIONAL_LOCKS)$/.test(value)) {
      subject.does('changes how later commands run or are recorded', value ?? '?');
    }
  }
}

/** Options that change the meaning of words or directory names, or the parsing of texts. */
const MISLEADING =
  /^(?:no)?(?:keyword|autocd|cdablevars|cdspell|promptsubst|rcquotes|cshjunkiequotes|ignorebraces|ignoreclosebraces|shfileexpansion|globsubst|shwordsplit|kshglob|shglob|banghist|shinstdin)$/;

/** `set` and `shopt`: most options affect only the session. */
function judgeShellOptions(subject: CommandAnalysis): void {
  const words = subject.args.map(({ shape }) => shape);
  if (words.includes('history') || words.includes('+H')) subject.does('changes what the command history records');
  const end = words.indexOf('--');
  const options = end === -1 ? words : words.slice(0, end);
  if (options.some((word) => MISLEADING.test(word.toLowerCase().replaceAll('_', ''))))
    subject.does('changes the meaning of words');
  if (subject.program === 'set' && options.some((word) => /^-[A-Za-z]*k/.test(word)))
    subject.does('changes the meaning of words', '', 'set -k');
  if (words.some((word) => /^(?:expand_aliases|aliases|posix|compat\d+|xtrace)$/.test(word)))
    subject.inquiry.noteNamesChange();
}

/** `cd`, `pushd` and similar builtins; without an operand, `atHome` tells whether the home directory is entered. */
const enters =
  (atHome: boolean): DirectoryChange =>
  (args, directories, home) => {
    const [target, ...others] = args.filter(({ shape }) => !/^-[LPe@]*$/.test(shape) || shape === '-');
    if (!target) return atHome ? [home] : [undefined];
    // zsh: `cd OLD NEW` replaces one name by another.
    if (others.length > 0) return [undefined];
    const { value } = target;
    if (value === undefined || target.isGlob || value === '-' || /^[+-]\d+$/.test(value)) return [undefined];
    if (value.startsWith('/')) return [normalizePath(value, '/')];
    return directories.map((directory) => (directory === undefined ? undefined : normalizePath(value, directory)));
  };

const echoed: KnownOutput = (args) => {
  const values = knownValues(args);
  // Some shells resolve escapes, others do not.
  if (!values || values.some((value) => value.includes('\\'))) return undefined;
  return `${values.filter((value, index) => index > 0 || value !== '-n').join(' ')}\n`;
};

const printed: KnownOutput = (args) => {
  const [format, ...rest] = knownValues(args) ?? [];
  return format === undefined || format.startsWith('-') ? undefined : formatted(format, rest);
};

function judgeChangesNames({ inquiry }: CommandAnalysis): void {
  inquiry.noteNamesChange();
}

/** `hash`; in zsh also `hash ls=/bin/rm`. */
function judgeHash(subject: CommandAnalysis): void {
  judgeNames(subject);
  if (!subject.args.some(({ shape }) => /^[^-=]+=/.test(shape))) return;
  subject.does('changes which program a name refers to');
  subject.inquiry.noteNamesChange();
}

export const BUILTINS: ProgramFamily = {
  name: 'builtins',
  entries: ENTRIES,
  rules: {
    judges: {
      names: judgeNames,
      print: judgePrint,
      declaration: judgeDeclaration,
      eval: judgeEval,
      source: judgeSource,
      alias: judgeAlias,
      trap: judgeTrap,
      changesNames: judgeChangesNames,
      shellOptions: judgeShellOptions,
      hash: judgeHash,
    },
    prints: { echoed, printed },
    enters: { home: enters(true), directory: enters(false), unknown: () => [undefined] },
  },
};
