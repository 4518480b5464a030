/** How a program executes typed input: as lines of a shell, which can be judged, or as code, which cannot. */
export type TypedLanguage = 'shell' | 'code';

/** Conditions under which a program takes typed input, and how it executes that input. */
export interface TypingProgram {
  readonly language: TypedLanguage;
  /**
   * - `input`: its standard input has to be the terminal.
   * - `terminal`: it opens the terminal itself, whatever its standard input is.
   * - `screen`: likewise, but only when its output is a terminal. Otherwise it just copies its input.
   */
  readonly reads: 'input' | 'terminal' | 'screen';
  /** Whether it takes typed input with these arguments (without its own name). */
  readonly takes: (args: readonly string[]) => boolean;
}

/** Whether a file name denotes the terminal, where a script is expected. */
export const isTerminalName = (arg: string): boolean =>
  /^(?:-|\/dev\/(?:stdin|tty|fd\/0)|\/proc\/[^/]+\/fd\/0)$/.test(arg);

/** Options with which a program only prints information about itself and exits. */
const INFORMS = /^(?:--version|--help|-version|-help)$/;

/**
 * Splits arguments into options before the first operand, and operands. `valued` lists options that take the next
 * argument.
 */
function split(args: readonly string[], valued: ReadonlySet<string>): { options: string[]; operands: string[] } {
  const options: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? '';
    if (arg === '--') return { options, operands: args.slice(index + 1) };
    if (!/^[-+]./.test(arg)) return { options, operands: args.slice(index) };
    options.push(arg);
    if (valued.has(arg)) index += 1;
  }
  return { options, operands: [] };
}

const words = (text = ''): ReadonlySet<string> => new Set(text.split(' ').filter((word) => word !== ''));

/** Options of an interpreter that decide whether it reads the terminal. */
interface ReplOptions {
  /** Options that take a separate value. */
  readonly valued?: string;
  /** Options that supply the program, or that make the interpreter print something and exit. */
  readonly ends?: RegExp;
  /** Options with which it reads the terminal after its script. */
  readonly stays?: RegExp;
  /** Names of scripts or subcommands that read the terminal. */
  readonly typed?: RegExp;
}

/** An interpreter: it reads the terminal when no program is given. */
function repl({ valued, ends = /^$/, stays = /^$/, typed = /^$/ }: ReplOptions): TypingProgram['takes'] {
  const taking = words(valued);
  return (args) => {
    const { options, operands } = split(args, taking);
    const [script] = operands;
    if (script !== undefined && typed.test(script)) return true;
    if (options.some((option) => INFORMS.test(option))) return false;
    if (options.some((option) => stays.test(option))) return true;
    if (options.some((option) => ends.test(option))) return false;
    return script === undefined || isTerminalName(script);
  };
}

/** A program that reads the terminal unless an option prevents it. */
const unless =
  (ends: RegExp = /^$/): TypingProgram['takes'] =>
  (args) =>
    !args.some((arg) => INFORMS.test(arg) || ends.test(arg));

/** A program that reads the terminal unless it has more than `most` operands. */
const upTo =
  (most: number, valued: string, ends: RegExp = /^$/): TypingProgram['takes'] =>
  (args) => {
    const taking = words(valued);
    const operands: string[] = [];
    // Options may stand between operands.
    for (let rest = args; rest.length > 0;) {
      const parts = split(rest, taking);
      if (parts.options.some((option) => INFORMS.test(option) || ends.test(option))) return false;
      operands.push(...parts.operands.slice(0, 1));
      rest = parts.operands.slice(1);
    }
    return operands.length <= most;
  };

/** Options of `docker run` and `docker exec` that take a value, so that the next argument is not the image. */
const CONTAINER_OPTIONS = words(
  '-e -v -p -w -u -h -l -m -c --name --network --net --env --env-file --volume --publish --workdir --user --entrypoint --hostname --mount --label --memory --cpus --platform --add-host --device --restart --pull --gpus --ulimit --shm-size --tmpfs --security-opt --cap-add --cap-drop --detach-keys --pid --ipc',
);

/** `-i`, `-t`, `-it`, `--interactive`, `--stdin`, `--tty`. */
const ASKS_FOR_INPUT = /^(?:-[a-su-zA-Z]*[it][a-z]*|--(?:interactive|stdin|tty)(?:=true)?)$/;

/** Docker and similar tools: a container receives typed input only on request. */
const container: TypingProgram['takes'] = (args) => {
  const at = args.findIndex((arg) => /^(?:run|exec|attach|start)$/.test(arg));
  if (at === -1) return false;
  const { options } = split(args.slice(at + 1), CONTAINER_OPTIONS);
  if (args[at] === 'attach') return true;
  // Compose allocates a terminal by default.
  if (args.slice(0, at).includes('compose')) return !options.some((option) => /^-[a-zA-Z]*[Td]/.test(option));
  return options.some((option) => ASKS_FOR_INPUT.test(option));
};

/** kubectl: `exec -it POD -- sh`, with its options before or after the operand. */
const cluster: TypingProgram['takes'] = (args) => {
  const end = args.indexOf('--');
  const own = end === -1 ? args : args.slice(0, end);
  if (own.includes('edit')) return true;
  return own.some((arg) => /^(?:exec|run|attach|debug)$/.test(arg)) && own.some((arg) => ASKS_FOR_INPUT.test(arg));
};

const SSH_VALUED = '-b -B -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w';
const SUDO_VALUED = words('-u -g -p -C -D -h -r -t -T -R -U --user --group --prompt --chdir --host --chroot');

/** sudo: with -i or -s and no command it starts a shell. A command in its arguments is judged separately. */
const asUser: TypingProgram['takes'] = (args) => {
  const { options, operands } = split(args, SUDO_VALUED);
  return operands.length === 0 && options.some((option) => /^(?:-[A-Za-z]*[is]|--login|--shell)$/.test(option));
};

const multiplexer: TypingProgram['takes'] = (args) => {
  const { operands } = split(args, words('-c -f -L -S -T'));
  const [subcommand = 'new', ...rest] = operands;
  if (/^(?:a|attach.*)$/.test(subcommand)) return true;
  return /^new/.test(subcommand) && !rest.includes('-d') && !args.some((arg) => /^-[VC]+$/.test(arg));
};

/** Registers one program under several names. */
const each = (names: string, program: TypingProgram): Record<string, TypingProgram> =>
  Object.fromEntries(names.split(' ').map((name) => [name, program]));

const code = (takes: TypingProgram['takes'], reads: TypingProgram['reads'] = 'input'): TypingProgram => ({
  language: 'code',
  reads,
  takes,
});

const shell = (takes: TypingProgram['takes']): TypingProgram => ({ language: 'shell', reads: 'input', takes });

/** `-f -`: a script is read from the terminal. */
const typedScript: TypingProgram['takes'] = (args) =>
  args.some((arg, index) => {
    const [, attached] = /^(?:-f|--(?:file|makefile)=)(.*)$/s.exec(arg) ?? [];
    const file = attached === '' || /^--(?:make)?file$/.test(arg) ? (args[index + 1] ?? '') : attached;
    return isTerminalName(file ?? '');
  });

/** Programs that execute typed input, by name. Other programs treat it as data. Source: their manual pages. */
const PROGRAMS: Readonly<Record<string, TypingProgram>> = {
  ...each(
    'sh bash dash ash ksh mksh zsh rbash yash',
    shell(
      repl({ valued: '-o +o -O +O --rcfile --init-file --emulate', ends: /^-[A-Za-z]*c/, stays: /^-[A-Za-z]*[is]/ }),
    ),
  ),
  ...each('fish csh tcsh nu elvish xonsh', code(repl({ valued: '-C', ends: /^-[A-Za-z]*c|^-v$/, stays: /^-i$/ }))),
  ...each('pwsh powershell', code(repl({ ends: /^-(?:c|command|f|file|enc)/i, stays: /^-noexit$/i }))),
  ...each(
    'python pypy ipython bpython ptpython',
    code(
      repl({
        valued: '-W -X --check-hash-based-pycs',
        ends: /^-[A-Za-z]*[cm]|^-V+$|^-h$/,
        stays: /^-[bBdEiIOPqsSuvx]*i/,
        typed: /^(?:pdb|code|asyncio|IPython|ipdb)$/,
      }),
    ),
  ),
  ...each(
    'node nodejs tsx ts-node',
    code(
      repl({
        valued: '-r --require --import --loader --experimental-loader -C --conditions --env-file',
        ends: /^(?:-[a-z]*[epcvh]|--(?:eval|print|check|test|run|v8-options|prof-process).*)$/,
        stays: /^(?:-i|--interactive)$/,
        typed: /^inspect$/,
      }),
    ),
  ),
  ...each('deno bun', code(repl({ ends: /^-[eprvVh]|^--(?:eval|print)/, typed: /^repl$/ }))),
  ...each('ruby', code(repl({ valued: '-I -r -C -E', ends: /^-[a-z]*[evh]/ }))),
  ...each('perl', code(repl({ valued: '-I', ends: /^-[A-Za-z0-9]*[eEvVh]/, stays: /^-[a-z]*d/ }))),
  ...each('php', code(repl({ valued: '-c -d', ends: /^-[BRESfhilmrstvw]|^--r/, stays: /^-a$/ }))),
  ...each('lua luajit', code(repl({ valued: '-l', ends: /^-[ev]/, stays: /^-i$/ }))),
  ...each('tclsh wish expect', code(repl({ ends: /^-[cf]/, stays: /^-i$/ }))),
  ...each('julia', code(repl({ valued: '-J -t -p -L', ends: /^(?:-[eEvh]|--eval|--print)/, stays: /^-i$/ }))),
  ...each(
    'ocaml swipl guile racket sbcl clojure clj octave scala raku elixir',
    code(repl({ ends: /^(?:-[ecfgmvh]|--(?:eval|exec|script|main).*)$/, stays: /^-i$/ })),
  ),
  ...each('irb pry ghci iex jshell groovysh pdb msfconsole sqlplus', code(unless())),
  R: code(unless(/^(?:-[ef]|--file=.*|CMD)$/)),
  ...each('bc dc', code(unless(/^-[evhV]$|^--expression/))),
  ...each('gdb lldb', code(unless(/^(?:--?batch(?:-silent)?|-b)$/))),
  ...each('psql', code(unless(/^(?:-[AtqXxanES1zwW0]*[cflV]|--(?:command|file|list).*)/))),
  ...each('mysql mariadb', code(unless(/^(?:-[BNsrtvHXE]*[eV]|--execute.*)/))),
  ...each('sqlite3 duckdb', code(upTo(1, '-separator -nullvalue -newline -init -cmd -vfs -maxsize -mmap -lookaside'))),
  ...each('mongosh mongo', code(unless(/^--eval|^-f$|\.m?js$/))),
  ...each('clickhouse-client cqlsh', code(unless(/^(?:-[eqf]|--(?:query|execute|file).*)/))),
  'redis-cli': code(
    upTo(
      0,
      '-h -p -a -n -u -s -r -i -d -D -t --user --pass --cacert --cert --key',
      /^-v$|^--(?:scan|stat|bigkeys|memkeys|latency|rdb|pipe|eval|cluster|lru)/,
    ),
  ),
  ...each('ftp telnet', code(unless())),
  ...each('sftp lftp', code(unless(/^-[bcf]/))),
  ...each('ex ed red', code(unless())),
  ...each(
    'vim vi nvim view vimdiff rvim nano pico micro joe jed kak hx helix mc ranger nnn lf vifm visudo vipw vigr sudoedit',
    code(unless(), 'terminal'),
  ),
  ...each('emacs', code(unless(/^--?batch$/), 'terminal')),
  ...each('less more most', code(unless(/^-V$/), 'screen')),
  ...each('tmux', code(multiplexer, 'terminal')),
  ...each('screen', code(unless(/^-(?:ls|list|wipe|v|X|Q|[dD]m.*)$/), 'terminal')),
  ...each('ssh', code(upTo(1, SSH_VALUED, /^-[A-Za-z0-9]*[NfWOVQG]/))),
  ...each('mosh', code(upTo(1, '-p --ssh --server'))),
  'mosh-client': code(unless()),
  ...each('docker podman nerdctl', code(container)),
  'docker-compose': code((args) => container(['compose', ...args])),
  ...each('kubectl oc', code(cluster)),
  ...each(
    'lxc incus',
    code((args) => /^(?:shell|console|exec)$/.test(args[0] ?? '')),
  ),
  machinectl: code((args) => args.some((arg) => /^(?:shell|login)$/.test(arg))),
  ...each('sudo doas', shell(asUser)),
  ...each('su runuser', shell(unless(/^(?:-[a-z]*c|--(?:session-)?command.*)$/))),
  script: shell(unless(/^(?:-[a-z]*c|--command.*)$/)),
  ...each('nsenter unshare', shell(upTo(0, '-t -S -G -R -w --target --root --wd'))),
  chroot: shell(upTo(1, '')),
  ...each('awk gawk mawk nawk sed gsed make gmake', code(typedScript)),
};

/** How a program takes typed input; undefined when it treats that as data. `name` is its plain name. */
export const typingOf = (name: string): TypingProgram | undefined =>
  Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name] : undefined;
