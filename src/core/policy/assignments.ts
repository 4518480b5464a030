import type { CommandClass } from './classes.js';
import type { Inquiry } from './inquiry.js';
import type { Assignment } from './simple-command.js';
import type { Subject } from './subject.js';

/** What setting a variable does. */
interface VariableRule {
  readonly names: RegExp;
  readonly class: CommandClass;
  readonly what: string;
  /** Values that do nothing of the kind. */
  readonly harmless?: RegExp;
}

/** Names by which zsh alone knows what it finds programs by: to other shells they are names like any. */
const ZSH_NAMES = /^(?:path|fpath|module_path|commands|builtins|cdpath)$/;

/** A text for zsh that sets one of them. */
export const SETS_ZSH_NAMES = /\b(?:path|fpath|module_path|commands|builtins|cdpath)(?:\[|\+?=)/;

/** Programs that only print, end, or do nothing: harmless as a pager or editor. */
const TRIVIAL_PROGRAM = /^(?:|cat|less|more|true|false|:|echo|vi|vim|nano|emacs|ed)$/;

/** Variables that change what programs are run, or what they do, from the most specific. */
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
      /^(?:BASH_ENV|ENV|ZDOTDIR|SHELLOPTS|BASHOPTS|BASH_XTRACEFD|PROMPT_COMMAND|precmd_functions|preexec_functions)$/,
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
  { names: /^LESS(?:OPEN|CLOSE)$/, class: 'obfuscated', what: 'names a program that others run' },
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
    names:
      /^(?:PERL5OPT|PERL5LIB|PERL5DB|PERLLIB|RUBYOPT|RUBYLIB|PYTHONSTARTUP|PYTHONHOME|PYTHONINSPECT|PYTHONBREAKPOINT)$/,
    class: 'obfuscated',
    what: 'has an interpreter run other code',
  },
  {
    names: /^(?:NODE_OPTIONS|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|MAVEN_OPTS)$/,
    class: 'obfuscated',
    what: 'has an interpreter run other code',
    harmless: /^(?!.*(?:--require|--import|--loader|(?:^|\s)-r|javaagent|agentlib|agentpath|@)).*$/,
  },
  {
    names: /^(?:TAR_OPTIONS|RSYNC_RSH|CVS_RSH|SVN_SSH|MAKEFLAGS|GREP_OPTIONS|RIPGREP_CONFIG_PATH)$/,
    class: 'obfuscated',
    what: 'adds options to a program',
  },
  {
    names: /^(?:TERMINFO|TERMCAP|TERMINFO_DIRS|GCONV_PATH|LOCPATH|NLSPATH|HOSTALIASES|RESOLV_HOST_CONF)$/,
    class: 'obfuscated',
    what: 'has programs load other data or code',
  },
  {
    names: /^(?:HISTFILE|HISTSIZE|HISTFILESIZE|HISTCONTROL|HISTIGNORE|SAVEHIST)$/,
    class: 'obfuscated',
    what: 'hides what is run',
  },
  { names: /^(?:SHELL_ADAPTER_\w+|__sa_\w+)$/, class: 'obfuscated', what: "changes the adapter's own variables" },
];

/** A variable gets a value that is not known, by something that is no assignment: `read`, `for`, `${NAME:=…}`. */
export function noteVariable(name: string, inquiry: Inquiry): void {
  const rule = ruleOf(name, inquiry);
  if (!rule) return;
  inquiry.note(rule.class, `${name} ${rule.what}`);
  inquiry.noteNamesChange();
}

/** Variables whose value a shell runs as text. */
const SHELL_TEXT = /^(?:PROMPT_COMMAND|PS[0-4])$/;

const ZSH_RULE: VariableRule = { names: ZSH_NAMES, class: 'obfuscated', what: 'changes what names stand for' };

const ruleOf = (name: string, { facts }: Inquiry): VariableRule | undefined =>
  facts.shell === 'zsh' && ZSH_NAMES.test(name) ? ZSH_RULE : VARIABLE_RULES.find(({ names }) => names.test(name));

/** Judges the variables that a command sets. */
export function judgeAssignments(subject: Subject, assignments: readonly Assignment[]): void {
  for (const assignment of assignments) judgeAssignment(subject, assignment);
}

function judgeAssignment(subject: Subject, { name, value, isPrefix }: Assignment): void {
  const rule = ruleOf(name, subject.inquiry);
  if (!rule) return;
  if (value !== undefined && rule.harmless?.test(value) === true) return;
  subject.findBeside(rule.class, `${name} ${rule.what}`);
  if (!isPrefix) subject.inquiry.noteNamesChange();
  if (value !== undefined && SHELL_TEXT.test(name)) subject.inquiry.judgeText(value, subject.scope);
}
