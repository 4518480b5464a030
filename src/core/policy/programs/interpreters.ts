import { POLICY_LIMITS, type TypingTable } from '../model.js';
import { type ProgramExamples, type ProgramFamily, repl, typedCode, typedScript, unless } from '../program-family.js';
import { RUNTIME_OPTIONS } from '../subject/assignments.js';
import type { CommandAnalysis } from '../subject/command-analysis.js';
import {
  DESCRIPTOR,
  isInputName,
  isTextEditing,
  isWholeText,
  judgeFetchedScript,
  judgeScriptAddress,
  judgeSource,
  judgeVisibleEffects,
} from '../subject/inline-source.js';
import { judgeProgram } from '../subject/judge-program.js';
import { hasOption, parseArguments, type ParsedArguments, tailOf, valueOfOption } from '../subject/options.js';
import {
  each,
  type OptionSpec,
  type ProgramSpec,
  type ProgramTable,
  valued,
  type ValueRole,
} from '../subject/program-spec.js';
import { type Argument, literal } from '../words/argument.js';

/** Commands of this family, by class. */
const EXAMPLES: ProgramExamples = {
  read: ['json.tool x', "awk '{print $1}' x"],
  write: ['zipfile -c x.zip x', 'venv x'],
  execute: [
    'ipython -c x',
    'node -v',
    'tsx x',
    "ruby -e 'x'",
    "php -r 'x'",
    'm4 x',
    'lua -e x',
    'expect -c x',
    'ocaml -e x',
    'Rscript -e x',
    "gnuplot -e 'plot x'",
    'deno run x',
    'pdflatex x',
    'gs x',
    'convert a b',
  ],
  interactive: [
    'gdb ./x',
    'lldb -- ls',
    'gdb --args ls',
    'python',
    'node',
    'deno repl',
    'ruby',
    'perl',
    'php',
    'lua',
    'tclsh',
    'julia',
    'ocaml',
    'irb',
    'R',
    'awk -f -',
  ],
  exfiltration: ['http.server'],
  obfuscated: ['timeit x', 'node --require ./x'],
};

const OPTIONS = {
  ...valued('-F -v --field-separator --assign'),
  ...each('-f --file -E --exec', { value: 'read' } as const),
  ...each('-e --source', { value: 'text' } as const),
  ...each('-l --load -i --include', { value: 'text' } as const),
};

/** Effects of an awk program beyond printing: it runs commands, reads from them, or writes files. Source: gawk(1). */
const BEYOND_PRINTING =
  /\bsystem\s*\(|\bgetline\b|(?<!\|)\|(?!\|)|\bprintf?\b[^;}\n]*>|@(?:load|include)|\bclose\s*\(|\/inet|@\w+\s*\(/;

/** `print … > "name"`, where the string is the whole file name. */
const OUTPUT = /(\bprintf?\b(?:[^;}\n">|]|"(?:\\.|[^"\\\n])*")*)>{1,2}\s*"([\w./@%+-]+)"(?=\s*(?:[;}\n]|$))/g;

/** `awk`: text processing, as long as its program only prints. */
function judgeAwk(subject: CommandAnalysis): void {
  const args = subject.args.filter(({ shape }) => !DUMPS.test(shape));
  const parsed = parseArguments(args, { options: OPTIONS });
  const { programs, scripts, files } = readCall(parsed);
  for (const script of scripts) judgeScriptFile(subject, script);
  if (hasOption(parsed, '-l', '--load', '-i', '--include')) subject.add('obfuscated', 'awk loads other code');
  for (const program of programs) judgeAwkProgram(subject, program);
  judgeDumps(subject, parsed.operands[0]);
  for (const file of files) subject.read(file);
  for (const argument of parsed.doubtful) if (argument.maySplit) subject.addUnknown(argument, 'an option of awk');
}

/** The programs and files in the arguments of awk. */
interface AwkCall {
  readonly programs: readonly Argument[];
  /** Values of the options that name a file with a program. */
  readonly scripts: readonly (Argument | undefined)[];
  readonly files: readonly Argument[];
}

/** The first operand is the program, unless options give one. */
function readCall({ options, operands }: ParsedArguments): AwkCall {
  const sources = options.filter(({ name }) => name === '-e' || name === '--source');
  const scripts = options.filter(({ spec }) => spec?.value === 'read').map(({ value }) => value);
  if (sources.length === 0 && scripts.length === 0)
    return { programs: operands.slice(0, 1), scripts, files: operands.slice(1) };
  return { programs: sources.flatMap(({ value }) => value ?? []), scripts, files: operands };
}

/** A program in a file, or on standard input. */
function judgeScriptFile(subject: CommandAnalysis, script: Argument | undefined): void {
  subject.add('execute', `awk runs a script: ${script?.text ?? ''}`);
  if (script?.isProcess === true) subject.add('obfuscated', 'awk runs the output of another command');
  if (script) {
    subject.read(script);
    judgeFetchedScript(subject, script);
  }
  const { stdin } = subject.command;
  if (isInputName(script?.value) && stdin && stdin.kind !== 'file')
    subject.add('obfuscated', 'awk runs code from its input, which cannot be judged');
}

function judgeAwkProgram(subject: CommandAnalysis, program: Argument): void {
  if (program.value === undefined) subject.addUnknown(program, 'the program that awk runs');
  if (program.shape.length > POLICY_LIMITS.maxScriptLength) {
    subject.add('obfuscated', 'awk runs a program that is too long to be judged');
    return;
  }
  // Content of patterns and strings is not executed; a string after `>` is a file name.
  const code = program.shape
    .replaceAll(OUTPUT, (_whole, before: string, name: string) => {
      subject.write({ ...literal(name), isGlob: false });
      return before;
    })
    .replaceAll(/"(?:\\.|[^"\\])*"/g, '""')
    .replaceAll(/(^|[~(,!&|{;\s])\/(?:\\.|[^/\\\n])+\//g, '$1');
  if (BEYOND_PRINTING.test(code)) subject.add('obfuscated', 'awk runs commands or writes files');
}

/** Options with which gawk writes its program or variables to a file, whose name is attached. */
const DUMPS = /^(?:--(?:du|pre|pro)[\w-]*=|-[bcCghIkMnNOPrsStV]*[dop])(?=.)/;

function judgeDumps(subject: CommandAnalysis, firstOperand: Argument | undefined): void {
  for (const arg of subject.args) {
    if (arg === firstOperand || arg.shape === '--') return;
    const [before] = DUMPS.exec(arg.shape) ?? [];
    if (before !== undefined) subject.write(tailOf(arg, before.length));
  }
}

/** Flags that loop over lines: the text after `i` is the suffix of backup files. */
const LOOPING = /^-[npl]*(?:i(?:\.[\w~]+)?)?$/;

/**
 * `perl -pe` and `perl -i -pe` used in place of `sed`.
 * @returns whether the judgement is complete
 */
function judgeTextEditing(subject: CommandAnalysis): boolean {
  const { args } = subject;
  const at = args.findIndex(({ shape }) => !LOOPING.test(shape));
  const [flag, code, ...files] = at === -1 ? [] : args.slice(at);
  if (!flag || !/^-[npl]*e$/.test(flag.shape) || !isEditingCode(code)) return false;
  if (files.some(({ shape, maySplit }) => shape.startsWith('-') || maySplit)) return false;
  const isInPlace = args.slice(0, at).some(({ shape }) => /^-[npl]*i/.test(shape));
  for (const file of files) {
    if (isInPlace) subject.write(file);
    else subject.read(file);
  }
  return true;
}

const isEditingCode = (code: Argument | undefined): boolean =>
  code?.value !== undefined && !code.isSample && isTextEditing(code.value);

/** Judges an interpreter by its script, or by its standard input: code read from there is unknown. */
const judgeInput =
  (options: Readonly<Record<string, OptionSpec>>) =>
  (subject: CommandAnalysis): void => {
    const parsed = parseArguments(subject.args, { options, stopsAtOperand: true });
    const script = scriptOf(subject, parsed);
    if (script) judgeKnownScript(subject, script, parsed.rest);
    if (script) {
      subject.noteScript(script);
      subject.read(script);
    }
    const module = valueOfOption(parsed, '-m');
    if (module) judgeModule(subject, module);
    if (isPhpServer(subject, parsed, script)) judgeServer(subject);
    else if (!script || !judgeUnknownScript(subject, script)) {
      const hasCode = parsed.options.some(({ spec }) => spec?.value !== undefined && GIVES_CODE.has(spec.value));
      judgeStdin(subject, script, hasCode);
    }
  };

/** The program of the adapter itself, as a script. */
const OWN_PROGRAM = /(?:^|\/)(?:dist\/main\.js|dist\/shell-adapter\.cjs|shell-adapter)$/;

/** Scripts of frameworks that have a table of their own. */
const MANAGER = /(?<![^/])(?:artisan|manage\.py)$/;

/** Judges a script that is a program with a table. */
function judgeKnownScript(subject: CommandAnalysis, script: Argument, args: readonly Argument[]): void {
  const path = script.value ?? '';
  const name = OWN_PROGRAM.test(path) ? 'shell-adapter' : MANAGER.exec(path)?.[0];
  if (name !== undefined) subject.runWords([literal(name), ...args]);
}

/** The operand that names the script. */
function scriptOf({ args, program }: CommandAnalysis, { operands }: ParsedArguments): Argument | undefined {
  const head = args.find(({ shape }) => shape === '--' || !shape.startsWith('-'));
  // php: the words after `--` are arguments of the script, which is read from standard input.
  return program === 'php' && head?.shape === '--' ? undefined : operands[0];
}

/** `php -S`: the script handles the requests, unless it is the output of another command. */
const isPhpServer = ({ program }: CommandAnalysis, parsed: ParsedArguments, script: Argument | undefined): boolean =>
  program === 'php' && script?.isProcess !== true && hasOption(parsed, '-S');

/** Roles of options whose value is the program, or names it. */
const GIVES_CODE: ReadonlySet<ValueRole> = new Set(['source', 'code', 'text']);

/** Judges a script that is no file with a known name; returns false when it is one. */
function judgeUnknownScript(subject: CommandAnalysis, script: Argument): boolean {
  const label = subject.program ?? 'it';
  if (script.isProcess) subject.add('obfuscated', `${label} runs the output of another command`);
  else if (DESCRIPTOR.test(script.shape) && !subject.command.stdin)
    subject.add('obfuscated', `${label} runs code from a file descriptor: ${script.text}`);
  else if (script.value === undefined) subject.addUnknown(script, `the script that ${label} runs`);
  else return false;
  return true;
}

/** Judges standard input when it is the program; otherwise the script. */
function judgeStdin(subject: CommandAnalysis, script: Argument | undefined, hasCode: boolean): void {
  const { stdin } = subject.command;
  const label = subject.program ?? 'it';
  if (!stdin || hasCode || (script && !isInputName(script.value))) {
    if (script) judgeFetchedScript(subject, script);
  } else if (isWholeText(stdin)) {
    subject.add('execute', `${label} runs the code on its input`);
    judgeVisibleEffects(subject, stdin.text);
  } else if (stdin.kind !== 'file')
    subject.add('obfuscated', `${label} runs code from its input, which cannot be judged`);
  else if (stdin.file.value === undefined) subject.addUnknown(stdin.file, `the script that ${label} runs`);
}

/** Python modules that act as programs, or that behave like other programs. */
const MODULES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['pip', 'pipx', 'uv', 'poetry', 'timeit', 'venv', 'zipfile', 'tarfile'].map((name) => [name, name]),
  ),
  'http.server': 'http.server',
  'json.tool': 'json.tool',
};

/** `python -m`: judged by what is known of the module as a program. */
function judgeModule(subject: CommandAnalysis, module: Argument): void {
  const program = Object.hasOwn(MODULES, module.shape) ? MODULES[module.shape] : undefined;
  const at = subject.args.findIndex(({ shape }) => shape.endsWith(module.shape));
  for (const file of subject.args.slice(at + 1)) if (!file.shape.startsWith('-')) subject.read(file);
  if (program !== undefined) subject.runWords([literal(program), ...subject.args.slice(at + 1)]);
}

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|localhost|::1|\[::1\])(?::\d+)?$/;

/** A server that accepts connections from other machines unless it is bound to a local address. */
function judgeServer(subject: CommandAnalysis): void {
  if (!subject.args.some(({ shape }) => LOOPBACK.test(shape.replace(/^--(?:bind|host)=/, ''))))
    subject.add('exfiltration', `${subject.program ?? 'it'} serves files to other machines`);
}

/** Options of an interpreter by the role of their values; names are separated by blanks. */
interface InterpreterOptions {
  /** Options that take a whole program. */
  readonly source?: string;
  /** Options that load or otherwise execute their value. */
  readonly code?: string;
  /** Options whose value has no effect. */
  readonly values?: string;
  /** Options that name a module, which gets all further arguments. */
  readonly module?: string;
}

/** `deno eval`: its first operand is the program. */
function judgeEvaluation(subject: CommandAnalysis): void {
  const operands = subject.args.slice(1).filter(({ shape }) => !shape.startsWith('-'));
  judgeSource(subject, operands[0]?.value, 'deno eval');
}

/** An interpreter: it runs a script, a program in its arguments, or its input. */
function interpreter({ source, code, values, module }: InterpreterOptions): ProgramSpec {
  const options: Readonly<Record<string, OptionSpec>> = {
    ...(values !== undefined && valued(values)),
    ...(module !== undefined && each(module, { value: 'text', isLast: true } as const)),
    ...(code !== undefined && each(code, { value: 'code' })),
    ...(source !== undefined && each(source, { value: 'source' })),
  };
  return { class: 'execute', operands: 'text', options, judge: judgeInput(options) };
}

/** Debugger commands that only inspect. */
const READ_ONLY_COMMANDS =
  /^(?:bt|backtrace|where|thread apply all bt|info [a-z ]+|x\/\w+ \S+|list|disassemble|quit|q|run|r|set (?:pagination|confirm) off)(?: full)?$/;

const PERL = interpreter({ source: '-e -E', code: '-M -m -x -n -p -i -d', values: '-I' });

/** Node.js, and programs with the same options. */
const NODE = { source: '-e -p --eval --print', code: '-r --require --import' } as const;

/** Programs that run code of their own languages, and debuggers. */
const SPECS: ProgramTable = {
  timeit: { class: 'obfuscated', reason: 'runs code that cannot be judged', operands: 'text' },
  venv: { class: 'write', operands: 'write', options: valued('--prompt') },
  ...each('zipfile tarfile', {
    class: 'read',
    operands: 'write',
    options: each('-c --create -e --extract', { class: 'write' }),
  }),
  'http.server': { class: 'execute', operands: 'text', judge: judgeServer },
  'json.tool': { class: 'read', operands: 'last-written', options: valued('--indent') },
  ...each('python pypy ipython', interpreter({ source: '-c', values: '-W -X', module: '-m' })),
  ...each(
    'node nodejs',
    interpreter({ ...NODE, code: `${NODE.code} --loader --experimental-loader`, values: '-C --conditions' }),
  ),
  ...each('deno', {
    class: 'execute',
    operands: 'text',
    judge: judgeScriptAddress,
    options: each('--eval --preload', { value: 'code' }),
    subcommands: {
      eval: { class: 'execute', operands: 'text', judge: judgeEvaluation },
      repl: { class: 'execute', operands: 'text', options: each('--eval --eval-file', { value: 'code' }) },
    },
  }),
  ...each('tsx ts-node', interpreter(NODE)),
  // -l, -0, -C and -F take an attached value or none: the next argument may be -e.
  perl: {
    class: 'read',
    operands: 'text',
    judge: (subject) => {
      if (!judgeTextEditing(subject)) judgeProgram(subject, PERL, 'perl');
    },
  },
  ruby: interpreter({ source: '-e', code: '-r -n -p -i', values: '-I -C -E -F' }),
  php: interpreter({ source: '-r -B -R -E', code: '-a -d', values: '-c -S -t -f' }),
  m4: interpreter({}),
  gnuplot: interpreter({ source: '-e' }),
  ...each('lua luajit', interpreter({ source: '-e', code: '-l' })),
  ...each('tclsh wish expect', interpreter({ source: '-c' })),
  ...each(
    'ocaml raku crystal nim clj kotlinc csi gp maxima sage',
    interpreter({ source: '-e -eval --eval -c --batch-string' }),
  ),
  ...each(
    'Rscript R julia elixir erl ghc runghc ghci swipl guile racket sbcl clojure groovy scala kotlin jshell osascript octave jrunscript bb',
    interpreter({ source: '-e -E --eval -eval -g -c' }),
  ),
  ...each('awk gawk mawk nawk original-awk', { class: 'read', operands: 'text', judge: judgeAwk }),
  ...each('gdb lldb', {
    class: 'execute',
    operands: 'text',
    judge: (subject) => {
      if (subject.command.stdin)
        subject.add('obfuscated', `${subject.program ?? 'it'} runs commands from its input, which cannot be judged`);
    },
    options: {
      ...each('-ex -x -iex --eval-command --command --batch-silent -o', {
        value: 'code',
        harmless: READ_ONLY_COMMANDS,
      }),
      ...each('-p --pid', { class: 'exfiltration', reason: 'reads the memory of a process', value: 'text' }),
    },
  }),
  ...each('pdflatex xelatex lualatex latex tex pdftex latexmk', {
    class: 'execute',
    options: {
      ...each('-shell-escape --shell-escape -enable-write18', {
        class: 'obfuscated',
        reason: 'lets a document run commands',
      }),
      ...valued('-interaction -output-directory -jobname'),
    },
  }),
  gs: {
    class: 'execute',
    options: each('-dNOSAFER -dDELAYSAFER', { class: 'obfuscated', reason: 'lets a document run commands' }),
  },
  ...each('convert magick mogrify identify', {
    class: 'execute',
    operands: 'last-written',
    judge: (subject) => {
      if (
        subject.args.some(({ shape }) =>
          /^(?:msl|ephemeral|mvg|text|label|url|https?|show|win|x|plt|video):/i.test(shape),
        )
      )
        subject.add('obfuscated', `${subject.program ?? 'it'} uses a coder that may read, delete or run files`);
    },
  }),
};

/** Interpreters that execute what is typed. Source: their manual pages. */
const TYPING: TypingTable = {
  ...each(
    'python pypy ipython bpython ptpython',
    typedCode(
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
    typedCode(
      repl({
        valued: '-r --require --import --loader --experimental-loader -C --conditions --env-file',
        ends: /^(?:-[a-z]*[epcvh]|--(?:eval|print|check|test|run|v8-options|prof-process).*)$/,
        stays: /^(?:-i|--interactive)$/,
        typed: /^inspect$/,
      }),
    ),
  ),
  deno: typedCode(repl({ ends: /^-[eprvVh]|^--(?:eval|print)/, typed: /^repl$/ })),
  ruby: typedCode(repl({ valued: '-I -r -C -E', ends: /^-[a-z]*[evh]/ })),
  perl: typedCode(repl({ valued: '-I', ends: /^-[A-Za-z0-9]*[eEvVh]/, stays: /^-[a-z]*d/ })),
  php: typedCode(repl({ valued: '-c -d', ends: /^-[BRESfhilmrstvw]|^--r/, stays: /^-a$/ })),
  ...each('lua luajit', typedCode(repl({ valued: '-l', ends: /^-[ev]/, stays: /^-i$/ }))),
  ...each('tclsh wish expect', typedCode(repl({ ends: /^-[cf]/, stays: /^-i$/ }))),
  julia: typedCode(repl({ valued: '-J -t -p -L', ends: /^(?:-[eEvh]|--eval|--print)/, stays: /^-i$/ })),
  ...each(
    'ocaml swipl guile racket sbcl clojure clj octave scala raku elixir',
    typedCode(repl({ ends: /^(?:-[ecfgmvh]|--(?:eval|exec|script|main).*)$/, stays: /^-i$/ })),
  ),
  ...each('irb pry ghci iex jshell groovysh pdb', typedCode(unless())),
  R: typedCode(unless(/^(?:-[ef]|--file=.*|CMD)$/)),
  ...each('gdb lldb', typedCode(unless(/^(?:--?batch(?:-silent)?|-b)$/))),
  ...each('awk gawk mawk nawk', typedCode(typedScript)),
};

/** Programs that run code of their own languages, and debuggers. */
export const INTERPRETERS: ProgramFamily = {
  name: 'interpreters',
  programs: SPECS,
  wrappers: { 'gdb --args': { class: 'execute' }, 'lldb --': { class: 'execute' } },
  typing: TYPING,
  traits: {
    runnable: 'python python3 perl ruby node php',
    versioned: 'python pypy ruby perl php lua luajit node tclsh awk',
    edits: 'perl',
  },
  variables: [
    {
      names:
        /^(?:PERL5OPT|PERL5LIB|PERL5DB|PERLLIB|RUBYOPT|RUBYLIB|PYTHONSTARTUP|PYTHONHOME|PYTHONINSPECT|PYTHONBREAKPOINT|LUA_INIT\w*|LUA_C?PATH\w*|ERL_\w*FLAGS|ELIXIR_ERL_OPTIONS|PHPRC|PHP_INI_SCAN_DIR|R_(?:PROFILE|ENVIRON|HOME)\w*|JULIA_LOAD_PATH|PYTHONUSERBASE|NODE_REPL_EXTERNAL_MODULE|AWK(?:LIB)?PATH|GOROOT|GOTOOLDIR)$/,
      class: 'obfuscated',
      what: 'makes an interpreter run other code',
    },
    {
      names: /^(?:NODE_OPTIONS|npm_config_node[-_]options|BUN_OPTIONS)$/i,
      class: 'obfuscated',
      what: 'makes an interpreter run other code',
      harmless: RUNTIME_OPTIONS,
    },
  ],
  startupPaths: ['.gdbinit', '.lldbinit', '.irbrc', '.pryrc', '.Rprofile', '~/.pythonrc*', '~/.config/gdb/**'],
  examples: EXAMPLES,
};
