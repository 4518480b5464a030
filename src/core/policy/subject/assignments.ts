import type { CommandClass } from '../model/classes.js';
import type { AnalysisContext } from '../words/analysis-context.js';
import { kindOf } from '../paths/path-kinds.js';
import { resolvePath } from '../paths/paths.js';
import type { Assignment } from '../words/simple-command.js';
import type { CommandAnalysis } from './command-analysis.js';

/** Effect of setting a variable. */
interface VariableRule {
  readonly names: RegExp;
  readonly class: CommandClass;
  readonly what: string;
  /** Values without this effect. */
  readonly harmless?: RegExp;
}

/** Names that only zsh uses to find programs; in other shells they have no special meaning. */
const ZSH_NAMES = /^(?:path|fpath|module_path|commands|builtins|cdpath)$/;

/** Matches a zsh text that sets one of them. */
export const SETS_ZSH_NAMES = /\b(?:path|fpath|module_path|commands|builtins|cdpath)(?:\[|\+?=)/;

/** Programs that only print, exit, or do nothing: harmless as a pager or editor. */
const TRIVIAL_PROGRAM = /^(?:|cat|less|more|true|false|:|echo|vi|vim|nano|emacs|ed)$/;

/** Variables that change which programs are run, or how they behave; the most specific rules first. */
const VARIABLE_RULES: readonly VariableRule[] = [
  { names: /^(?:LD_|DYLD_)/, class: 'obfuscated', what: 'has the loader bring other code into programs' },
  {
    names: /^(?:PATH|FPATH|MODULE_PATH)$/,
    class: 'obfuscated',
    what: 'changes what programs names stand for',
  },
  { names: /^(?:CDPATH|HOME|PWD|OLDPWD)$/, class: 'obfuscated', what: 'changes what paths stand for' },
  {
    names: /^(?:BASH_ALIASES|BASH_CMDS|aliases|galiases|saliases|functions|dis_\w+|nameddirs)$/,
    class: 'obfuscated',
    what: 'changes what names stand for',
  },
  { names: /^BASH_FUNC_/, class: 'obfuscated', what: 'defines a function in the shells that follow' },
  {
    names:
      /^(?:BASH_ENV|ENV|ZDOTDIR|SHELLOPTS|BASHOPTS|BASH_XTRACEFD|PROMPT_COMMAND|(?:precmd|preexec|chpwd|periodic|zshexit|zshaddhistory)_functions)$/,
    class: 'obfuscated',
    what: 'has shells run something of their own accord',
  },
  {
    names: /^(?:PS[0-4]|PROMPT|RPROMPT|RPS1)$/,
    class: 'obfuscated',
    what: 'is run with every prompt or trace',
    harmless: /^[^$`%\\]*$/,
  },
  {
    names: /^(?:\w*PAGER|EDITOR|VISUAL|FCEDIT|BROWSER|\w+_EDITOR)$/,
    class: 'obfuscated',
    what: 'names a program that others run',
    harmless: TRIVIAL_PROGRAM,
  },
  {
    names: /^(?:LESS|MORE)$/,
    class: 'obfuscated',
    what: 'adds options to a pager',
    harmless: /^[-FRSXMmINQiqerx0-9 ]*$/,
  },
  { names: /^LESS(?:OPEN|CLOSE|KEY\w*|EDIT)$/, class: 'obfuscated', what: 'names a program that others run' },
  {
    names: /^SHELL$/,
    class: 'obfuscated',
    what: 'names a program that others run',
    harmless: /^(?:\/usr)?\/bin\/(?:ba|da|z|k|fi)?sh$/,
  },
  {
    names: /^(?:SSH_ASKPASS|SUDO_ASKPASS|GIT_ASKPASS)$/,
    class: 'obfuscated',
    what: 'names a program that others run',
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
    what: 'has git write or read elsewhere',
    harmless: /^(?:[0-2]|true|false|)$/,
  },
  {
    names:
      /^(?:PERL5OPT|PERL5LIB|PERL5DB|PERLLIB|RUBYOPT|RUBYLIB|PYTHONSTARTUP|PYTHONHOME|PYTHONINSPECT|PYTHONBREAKPOINT|LUA_INIT\w*|LUA_C?PATH\w*|ERL_\w*FLAGS|ELIXIR_ERL_OPTIONS|PHPRC|PHP_INI_SCAN_DIR|R_(?:PROFILE|ENVIRON)\w*|JULIA_LOAD_PATH|PSQLRC|VIMINIT|EXINIT|NVIM_APPNAME|DOTNET_STARTUP_HOOKS|CORECLR_PROFILER\w*)$/,
    class: 'obfuscated',
    what: 'has an interpreter run other code',
  },
  {
    names:
      /^(?:NODE_OPTIONS|npm_config_node[-_]options|BUN_OPTIONS|(?:\w*_)?JAVA_(?:TOOL_)?(?:OPTIONS|OPTS)|(?:MAVEN|GRADLE|SBT|CATALINA|JVM)_OPTS)$/i,
    class: 'obfuscated',
    what: 'has an interpreter run other code',
    harmless:
      /^(?!.*(?:--require|--import|--loader|(?:^|\s)-r|javaagent|agentlib|agentpath|@|:\+?On(?:OutOfMemory)?Error)).*$/,
  },
  {
    names:
      /^(?:TAR_OPTIONS|RSYNC_RSH|CVS_RSH|SVN_SSH|(?:GNU)?MAKEFLAGS|MAKEFILES|GREP_OPTIONS|RIPGREP_CONFIG_PATH|ZIPOPT|MANOPT|FZF_DEFAULT_OPTS|CURL_HOME|WGETRC)$/,
    class: 'obfuscated',
    what: 'adds options to a program',
  },
  {
    names:
      /^(?:OPENSSL_(?:CONF|ENGINES|MODULES)|(?:QT|GTK|GIO|VST)_?(?:PLUGIN_PATH|MODULES|PATH|EXTRA_MODULES)|INPUTRC|TERMINFO|TERMCAP|TERMINFO_DIRS|GCONV_PATH|LOCPATH|NLSPATH|HOSTALIASES|RESOLV_HOST_CONF)$/,
    class: 'obfuscated',
    what: 'has programs load other data or code',
  },
  {
    names: /^npm_config_(?:script[-_]shell|shell|git|editor|viewer|browser|init[-_]module|userconfig|globalconfig)$/i,
    class: 'obfuscated',
    what: 'names a program that others run',
  },
  {
    names: /^(?:GOFLAGS|RUSTFLAGS|CARGO_(?:ENCODED_RUSTFLAGS|BUILD_\w*|TARGET_\w*(?:LINKER|RUNNER)))$/,
    class: 'obfuscated',
    what: 'adds options to a compiler',
    harmless: /^(?!.*(?:exec|vettool|linker|wrapper|plugin))[\w= .,:/+-]*$/,
  },
  {
    names: /^(?:HISTFILE|HISTSIZE|HISTFILESIZE|HISTCONTROL|HISTIGNORE|SAVEHIST)$/,
    class: 'obfuscated',
    what: 'hides what is run',
  },
  { names: /^(?:SHELL_ADAPTER_\w+|__sa_\w+)$/, class: 'obfuscated', what: "changes the adapter's own variables" },
];

/** Judges a variable that is set to an unknown value other than by an assignment: `read`, `for`, `${NAME:=…}`. */
export function noteVariable(name: string, inquiry: AnalysisContext): void {
  const rule = ruleOf(name, inquiry);
  if (!rule) return;
  inquiry.note(rule.class, `${name} ${rule.what}`);
  inquiry.noteNamesChange();
}

/** Variables whose value a shell runs as text. */
const SHELL_TEXT = /^(?:PROMPT_COMMAND|PS[0-4])$/;

/** Variables whose value is a command for build tools and other programs; judged as a command. */
const COMMAND_TEXT =
  /^(?:CC|CXX|CPP|LD|AR|AS|FC|HOSTCC|RUSTC|RUSTDOC|RUSTC(?:_WORKSPACE)?_WRAPPER|CARGO_BUILD_RUSTC\w*|CMAKE_\w+_LAUNCHER|FZF_(?:DEFAULT|CTRL_T|ALT_C)_COMMAND|MAKE|NPM_CONFIG_SHELL)$/;

const ZSH_RULE: VariableRule = { names: ZSH_NAMES, class: 'obfuscated', what: 'changes what names stand for' };

const ruleOf = (name: string, { facts }: AnalysisContext): VariableRule | undefined =>
  facts.shell === 'zsh' && ZSH_NAMES.test(name) ? ZSH_RULE : VARIABLE_RULES.find(({ names }) => names.test(name));

/** Judges the variables that a command sets. */
export function judgeAssignments(subject: CommandAnalysis, assignments: readonly Assignment[]): void {
  for (const assignment of assignments) judgeAssignment(subject, assignment);
}

function judgeAssignment(subject: CommandAnalysis, { name, value, isPrefix }: Assignment): void {
  if (value !== undefined && COMMAND_TEXT.test(name)) subject.inquiry.judgeText(value, subject.scope);
  if (value !== undefined && TEMPORARY_PLACE.test(name)) judgeTemporaryPlace(subject, name, value);
  const rule = ruleOf(name, subject.inquiry);
  if (!rule) return;
  if (value !== undefined && rule.harmless?.test(value) === true) return;
  subject.addSideEffect(rule.class, `${name} ${rule.what}`);
  if (!isPrefix) subject.inquiry.noteNamesChange();
  if (value !== undefined && SHELL_TEXT.test(name)) subject.inquiry.judgeText(value, subject.scope);
}

/** Variables that name the directory of temporary files. */
const TEMPORARY_PLACE = /^(?:TMPDIR|TMP|TEMP|TEMPDIR)$/;

/** Temporary files may be redirected to any place outside the system directories, such as another disk. */
function judgeTemporaryPlace(subject: CommandAnalysis, name: string, value: string): void {
  const { inquiry, scope } = subject;
  const kinds = resolvePath(value, scope.directories).map((path) => kindOf(path, inquiry.facts));
  if (kinds.some((kind) => kind === 'system' || kind === 'startup' || kind === 'protected'))
    subject.addSideEffect('persistence', `${name} has temporary files written where the system's are: ${value}`);
}
