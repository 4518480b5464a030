import type { AnalysisContext } from '../words/analysis-context.js';
import { type Assignment, UNKNOWN } from '../words/argument.js';
import { statedFinding } from '../effects.js';
import { kindOf } from '../path-kinds.js';
import { resolvePath } from '../paths.js';
import type { CommandAnalysis } from './command-analysis.js';
import type { VariableRule } from '../words/program-knowledge.js';

/** Programs that only print, exit, or do nothing: harmless as a pager or editor. */
export const TRIVIAL_PROGRAM = /^(?:|cat|less|more|true|false|:|echo|vi|vim|nano|emacs|ed)$/;

/** Options of language runtimes that load no other code. */
export const RUNTIME_OPTIONS =
  /^(?!.*(?:--require|--import|--loader|(?:^|\s)-r|javaagent|agentlib|agentpath|@|:\+?On(?:OutOfMemory)?Error)).*$/;

/** Names that only zsh uses to find programs; in other shells they have no special meaning. */
const ZSH_NAMES = /^(?:path|fpath|module_path|commands|builtins|cdpath)$/;

/** Matches a zsh text that sets one of them. */
export const SETS_ZSH_NAMES = /\b(?:path|fpath|module_path|commands|builtins|cdpath)(?:\[|\+?=)/;

/** Variables of shells, of the loader and of libraries. Those of single programs are in their families. */
const VARIABLE_RULES: readonly VariableRule[] = [
  { names: /^(?:LD_|DYLD_)/, class: 'obfuscated', what: 'makes the loader add code to programs' },
  {
    names: /^(?:PATH|FPATH|MODULE_PATH)$/,
    class: 'obfuscated',
    what: 'changes which programs names refer to',
  },
  { names: /^(?:CDPATH|HOME|PWD|OLDPWD)$/, class: 'obfuscated', what: 'changes which paths are used' },
  {
    names: /^(?:BASH_ALIASES|BASH_CMDS|aliases|galiases|saliases|functions|dis_\w+|nameddirs)$/,
    class: 'obfuscated',
    what: 'changes the meaning of names',
  },
  { names: /^BASH_FUNC_/, class: 'obfuscated', what: 'defines a function in later shells' },
  {
    names:
      /^(?:BASH_ENV|ENV|MAILPATH|ZDOTDIR|SHELLOPTS|BASHOPTS|BASH_XTRACEFD|PROMPT_COMMAND|(?:precmd|preexec|chpwd|periodic|zshexit|zshaddhistory)_functions)$/,
    class: 'obfuscated',
    what: 'makes shells run code automatically',
  },
  {
    names: /^(?:PS[0-4]|PROMPT|RPROMPT|RPS1)$/,
    class: 'obfuscated',
    what: 'is expanded, and may run code, at every prompt or trace',
    harmless: /^[^$`%\\]*$/,
  },
  {
    names: /^(?:\w*PAGER|EDITOR|VISUAL|HGEDITOR|HGMERGE|FCEDIT|BROWSER|\w+_EDITOR)$/,
    class: 'obfuscated',
    what: 'sets a program that other programs run',
    harmless: TRIVIAL_PROGRAM,
  },
  {
    names: /^SHELL$/,
    class: 'obfuscated',
    what: 'sets a program that other programs run',
    harmless: /^(?:\/usr)?\/bin\/(?:ba|da|z|k|fi)?sh$/,
  },
  {
    names:
      /^(?:OPENSSL_(?:CONF|ENGINES|MODULES)|(?:QT|GTK|GIO|VST)_?(?:PLUGIN_PATH|MODULES|PATH|EXTRA_MODULES)|INPUTRC|TERMINFO|TERMCAP|TERMINFO_DIRS|GCONV_PATH|LOCPATH|NLSPATH|HOSTALIASES|RESOLV_HOST_CONF)$/,
    class: 'obfuscated',
    what: 'makes programs load other data or code',
  },
  {
    names: /^XDG_(?:CONFIG|DATA|STATE|CACHE)_(?:HOME|DIRS)$/,
    class: 'obfuscated',
    what: 'makes programs read other settings',
  },
  {
    names:
      /^(?:SSLKEYLOGFILE|TF_LOG_PATH|SQLITE_HISTORY|MALLOC_TRACE|NODE_V8_COVERAGE|COVERAGE_FILE|GCOV_PREFIX|LLVM_PROFILE_FILE|GMON_OUT_PREFIX)$/,
    class: 'obfuscated',
    what: 'makes programs write a file',
    harmless: /^(?:\/dev\/null|)$/,
  },
  {
    names:
      /^(?:\w+_(?:RUNNER|WRAPPER|LAUNCHER|EXECUTABLE|EXTERNAL_DIFF)|CARGO_BUILD_RUSTC|CARGO_\w+_LINKER|MAKESHELL|FZF_(?:DEFAULT|CTRL_T|ALT_C)_COMMAND|RUSTC|RUSTDOC|npm_config_\w+|NPM_CONFIG_\w+|YARN_\w*PATH)$/,
    class: 'obfuscated',
    what: 'sets a program that other programs run',
    harmless: TRIVIAL_PROGRAM,
  },
  {
    names: /^(?:JAVA|M2|MAVEN|GRADLE_USER)_HOME$|^(?:DOTNET_ROOT|MSBUILD_EXE_PATH)$/,
    class: 'obfuscated',
    what: 'sets where programs are',
    harmless: /^(?!\/tmp|\/var\/tmp|\/dev\/shm|\.).*$/,
  },
  {
    names: /^(?:C|CXX|CPP|LD|F)FLAGS$/,
    class: 'obfuscated',
    what: 'adds options to a compiler',
    harmless: /^(?!.*(?:plugin|wrapper|specs|-B|@|linker)).*$/,
  },
  {
    names:
      /^(?:CMAKE_TOOLCHAIN_FILE|REDISCLI_RCFILE|EMACSLOADPATH|GST_PLUGIN_PATH|PIP_CONFIG_FILE|SYSTEM_WGETRC|TF_CLI_(?:CONFIG_FILE|ARGS\w*)|YARN_(?:RC_FILENAME|PLUGINS)|FZF_DEFAULT_OPTS_FILE|TEXMFCNF|GOENV|KUBECONFIG|DOCKER_HOST|DOCKER_CONFIG|AWS_CONFIG_FILE|PGSERVICEFILE|PSQLRC|MYSQL_HOME|SCREENRC|BAT_CONFIG_PATH)$/,
    class: 'obfuscated',
    what: 'makes a program read other settings',
  },
  {
    names: /^(?:HISTFILE|HISTSIZE|HISTFILESIZE|HISTCONTROL|HISTIGNORE|SAVEHIST)$/,
    class: 'obfuscated',
    what: 'changes the command history',
  },
  { names: /^(?:SHELL_ADAPTER_\w+|__sa_\w+)$/, class: 'obfuscated', what: 'changes variables of shell-adapter' },
];

/** Judges a variable that is set to an unknown value other than by an assignment: `read`, `for`, `${NAME:=…}`. */
export function noteVariable(name: string, inquiry: AnalysisContext): void {
  const rule = ruleOf(name, inquiry);
  if (!rule) return;
  inquiry.noteFinding(statedFinding(rule.class, name, rule.what, false));
  inquiry.noteNamesChange();
}

/** Variables whose value a shell runs as text. */
const SHELL_TEXT = /^(?:PROMPT_COMMAND|PS[0-4])$/;

const ZSH_RULE: VariableRule = { names: ZSH_NAMES, class: 'obfuscated', what: 'changes the meaning of names' };

function ruleOf(name: string, { facts, programs }: AnalysisContext): VariableRule | undefined {
  if (facts.shell === 'zsh' && ZSH_NAMES.test(name)) return ZSH_RULE;
  return VARIABLE_RULES.find(({ names }) => names.test(name)) ?? programs.variableRuleOf(name);
}

export function judgeAssignments(subject: CommandAnalysis, assignments: readonly Assignment[]): void {
  for (const assignment of assignments) judgeAssignment(subject, assignment);
}

function judgeAssignment(subject: CommandAnalysis, assignment: Assignment): void {
  const { name, value, isPrefix } = assignment;
  subject.take(assignment.text, isPrefix ? 'a variable for this command' : 'a variable of the shell');
  if (value !== undefined) judgeValue(subject, name, value);
  const effect = effectOf(subject, assignment);
  if (!effect) return;
  subject.states(effect.class, name, effect.what, false);
  if (!isPrefix) subject.inquiry.noteNamesChange();
  if (value !== undefined && SHELL_TEXT.test(name)) subject.inquiry.judgeText(value, subject.scope);
}

const OWN_PROGRAMS: VariableRule = {
  names: /^PATH$/,
  class: 'execute',
  what: 'leads to programs of the workspace or of the user',
};

/** Directories below the home directory in which tools install programs. */
const USER_PROGRAMS =
  /^\/(?:(?:\.local|go|\.cargo|\.npm-global|\.yarn|\.bun|\.deno|\.pyenv|\.rbenv|\.pyenv\/shims)\/bin|bin)$/;

/** The effect of setting a variable; undefined when there is none with this value. */
function effectOf(subject: CommandAnalysis, assignment: Assignment): VariableRule | undefined {
  const { name, value } = assignment;
  if (name === 'PATH' && addsOwnPrograms(subject, assignment)) return OWN_PROGRAMS;
  const rule = ruleOf(name, subject.inquiry);
  const isHarmless = value !== undefined && rule?.harmless?.test(value) === true;
  return isHarmless ? undefined : rule;
}

const isOfUser = (path: string | undefined, home: string | undefined): boolean =>
  home !== undefined && path?.startsWith(`${home}/`) === true && USER_PROGRAMS.test(path.slice(home.length));

/** Whether a value of PATH consists of the earlier one, of directories in the workspace, and of such of the user. */
function addsOwnPrograms({ inquiry, scope }: CommandAnalysis, { shape, text }: Assignment): boolean {
  const entries = shape?.split(':') ?? [];
  const added = entries.filter((entry) => entry !== UNKNOWN);
  const isOwn = (entry: string) =>
    entry !== '' &&
    !entry.includes(UNKNOWN) &&
    resolvePath(entry, scope.directories).every(
      (path) => kindOf(path, inquiry.facts) === 'workspace' || isOfUser(path, inquiry.facts.home),
    );
  return (
    entries.length === added.length + 1 && /\$(?:PATH|\{PATH\})/.test(text) && added.length > 0 && added.every(isOwn)
  );
}

/** Judges a value that is a command or a place for files. */
function judgeValue(subject: CommandAnalysis, name: string, value: string): void {
  const { inquiry, scope } = subject;
  if (inquiry.programs.isCommandVariable(name)) inquiry.judgeText(value, scope);
  if (TEMPORARY_PLACE.test(name)) judgeTemporaryPlace(subject, name, value);
}

/** Variables that name the directory of temporary files. */
const TEMPORARY_PLACE = /^(?:TMPDIR|TMP|TEMP|TEMPDIR)$/;

/** Temporary files may be redirected to any place outside the system directories, such as another disk. */
function judgeTemporaryPlace(subject: CommandAnalysis, name: string, value: string): void {
  const { inquiry, scope } = subject;
  const kinds = resolvePath(value, scope.directories).map((path) => kindOf(path, inquiry.facts));
  if (kinds.some((kind) => kind === 'system' || kind === 'startup' || kind === 'protected'))
    subject.causes('puts temporary files into a system directory', value, name);
}
