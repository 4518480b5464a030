import { factsOfFreshShell } from './facts.js';
import { inspect, type PolicyRequest } from './inspect.js';
import { plainName, SHELLS } from './program-name.js';

/** How a program takes what is typed: as commands of a shell, or as code of a language of its own. */
export type TypedLanguage = 'shell' | 'code';

/** Programs that take commands from the terminal when they are given no script. */
const INTERPRETERS = new Set(
  'python pypy ipython node nodejs deno bun irb ruby perl php lua luajit tclsh wish expect R julia ghci iex erl scala jshell groovysh racket guile sbcl clojure octave gdb lldb bc dc fish csh tcsh pwsh nu xonsh elvish'.split(
    ' ',
  ),
);

/** Programs that take commands from the terminal whatever they are given. */
const CONSOLES = new Set(
  'psql mysql mariadb sqlite3 mongosh mongo redis-cli ftp sftp lftp telnet gdb lldb rlwrap msfconsole vim vi nvim ex ed emacs less man more'.split(
    ' ',
  ),
);

/** Programs behind which a shell listens, here or elsewhere. */
const DOORS = new Set(
  'ssh mosh mosh-client su sudo doas docker podman kubectl lxc nsenter screen tmux script machinectl'.split(' '),
);

/** Options of an interpreter that has it take input after its script. */
const STAYS = /^-[A-Za-z]*[is]$|^--interactive$/;

/** Programs that are harmless on data, and run a script that they are told to read from the terminal. */
const SCRIPTED = new Set('awk gawk mawk nawk sed gsed make gmake'.split(' '));

/** Names of the terminal, where a script is expected. */
const isTerminalName = (arg: string): boolean => /^(?:-|\/dev\/(?:stdin|tty|fd\/0)|\/proc\/[^/]+\/fd\/0)$/.test(arg);

/** As what a program takes what is typed; undefined when it is data to it. `args` begins with its name. */
export function languageOf(name: string, args: readonly string[]): TypedLanguage | undefined {
  const program = plainName((args[0] ?? name).replace(/^-/, '') || name);
  const known = [program, plainName(name)];
  const isOne = (names: ReadonlySet<string>) => known.some((candidate) => names.has(candidate));
  if (isOne(DOORS)) return 'shell';
  if (isOne(CONSOLES)) return 'code';
  const isShell = isOne(SHELLS);
  const options = args.slice(1);
  if (isOne(SCRIPTED) && isScriptTyped(options)) return 'code';
  if (!isShell && !isOne(INTERPRETERS)) return undefined;
  // A script, or text in the arguments: what is typed is its data.
  if (options.some((arg) => !/^[-+]/.test(arg) && !isTerminalName(arg)) && !options.some((arg) => STAYS.test(arg)))
    return undefined;
  return isShell ? 'shell' : 'code';
}

/** Whether a script is read from the terminal: `-f -`, `-f/dev/stdin`, `--file=-`. */
const isScriptTyped = (options: readonly string[]): boolean =>
  options.some((arg, index) => {
    const [, attached] = /^(?:-f|--(?:file|makefile)=)(.*)$/s.exec(arg) ?? [];
    const file = attached === '' || /^--(?:make)?file$/.test(arg) ? (options[index + 1] ?? '') : attached;
    return isTerminalName(file ?? '');
  });

/** As what the programs that a command starts take what is typed. */
export function startedLanguages(request: PolicyRequest): readonly TypedLanguage[] {
  const { commands } = inspect(request, factsOfFreshShell('/'));
  return commands.flatMap(({ program, args }) => {
    const language =
      program === undefined ? undefined : languageOf(program, [program, ...args.map((arg) => arg ?? '?')]);
    return language === undefined ? [] : [language];
  });
}

/** Keys that end or interrupt what is typed, and nothing else: Ctrl-C, Ctrl-D, Ctrl-Z, Ctrl-\, and line ends. */
// eslint-disable-next-line no-control-regex -- they are what is looked for
const HARMLESS_KEYS = /^[\x03\x04\x1a\x1c\r\n]*$/;

/** Whether nothing but keys that cannot become a command is typed. */
export const isHarmlessTyping = (text: string): boolean => HARMLESS_KEYS.test(text);

/** Longest unfinished line that is remembered, in characters: more of it makes no better command. */
const MAX_LINE = 8192;

/** What of typed text is not yet a finished line: it becomes part of the next command. */
export function unfinishedLine(text: string): string {
  const from = Math.max(...['\n', '\r', '\x03', '\x04'].map((end) => text.lastIndexOf(end))) + 1;
  return text.slice(from).slice(-MAX_LINE);
}
