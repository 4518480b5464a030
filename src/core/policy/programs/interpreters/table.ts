import { type Argument, literal } from '../../words/argument.js';
import type { CommandAnalysis } from '../../subject/command-analysis.js';
import { judgeAwk } from './awk.js';
import {
  each,
  type OptionSpec,
  type ProgramSpec,
  type ProgramTable,
  valued,
  type ValueRole,
} from '../../subject/program-spec.js';
import { judgeProgram } from '../../subject/judge-program.js';
import { hasOption, type ParsedArguments, parseArguments, valueOfOption } from '../../subject/options.js';
import { judgeTextEditing } from './perl.js';
import { DESCRIPTOR, isInputName } from '../../subject/standard-input.js';
import { judgeFetchedScript, judgeScriptAddress } from '../../subject/run-file.js';
import { isWholeText, judgeSource, judgeVisibleEffects } from '../../subject/inline-source.js';

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
export const SPECS: ProgramTable = {
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
