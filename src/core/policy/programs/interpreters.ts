import { POLICY_LIMITS } from '../model.js';
import type { ProgramFamily } from '../program-catalog.js';
import { RUNTIME_OPTIONS } from '../subject/assignments.js';
import type { CommandAnalysis } from '../subject/command-analysis.js';
import {
  DESCRIPTOR,
  isInputName,
  isTextEditing,
  isWholeText,
  judgeFetchedScript,
  judgeVisibleEffects,
} from '../subject/inline-source.js';
import { judgeProgram } from '../subject/judge-program.js';
import { hasOption, parseArguments, valueOfOption } from '../subject/options.js';
import { each, type ParsedArguments, type ProgramCall, type ProgramSpec, valued } from '../subject/program-spec.js';
import { type Role, ROLES } from '../subject/roles.js';
import { type Argument, literal } from '../words/argument.js';

const ENTRIES = String.raw`
%python: read
  -W -X --check-hash-based-pycs = text
  typed code repl ends /^-[A-Za-z]*[cm]|^-V+$|^-h$/ stays /^-[bBdEiIOPqsSuvx]*i/ names \
      /^(?:pdb|code|asyncio|IPython|ipdb)$/
%node: read
  -C --conditions --env-file = text
  -r --require --import --loader --experimental-loader = code
  -e -p --eval --print = source
  rule interpreter
  typed code repl ends /^(?:-[a-z]*[epcvh]|--(?:eval|print|check|test|run|v8-options|prof-process).*)$/ stays \
      /^(?:-i|--interactive)$/ names /^inspect$/
timeit <text>: obfuscated runs code that cannot be judged
  e.g. timeit x: obfuscated
venv <write>: write
  --prompt = text
  e.g. venv x: write
zipfile tarfile <write>: read
  -c --create -e --extract ! write
  e.g. zipfile -c x.zip x: write
http.server <text>: execute
  when no /^(?:--(?:bind|host)=)?(?:127\.\d+\.\d+\.\d+|localhost|::1|\[::1\])(?::\d+)?$/ ! exfiltration \
      {it} serves files to other machines
  e.g. http.server: exfiltration
json.tool <read... write>: read
  --indent = text
  e.g. json.tool x: read
python pypy ipython <text>: execute
  like %python
  -m = text last
  -c = source
  rule interpreter
  is runnable of python
  is versioned of python pypy
  e.g. ipython -c x: execute; python: interactive
node nodejs tsx ts-node <text>: execute
  like %node
  is runnable versioned of node
  e.g. node -v: execute; node: interactive; node --require ./x: obfuscated; tsx x: execute
deno <text>: execute
  --eval --preload = code
  when input named ! obfuscated {it} runs code from its input, which cannot be judged
  when /^(?:https?|jsr|npm):/ ! network {it} fetches a program and runs it: {word}
  when /^https?:/ ! obfuscated {it} runs code from another machine: {word}
  eval <source text>: execute
  repl: execute
    --eval --eval-file = code
  typed code repl ends /^-[eprvVh]|^--(?:eval|print)/ names /^repl$/
  e.g. deno run x: execute; deno repl: interactive
perl <text>: read
  -I = text
  rule perl
  typed code repl ends /^-[A-Za-z0-9]*[eEvVh]/ stays /^-[a-z]*d/
  is runnable versioned edits
  e.g. perl: interactive
ruby <text>: execute
  -I -C -E -F = text
  -r -n -p -i = code
  -e = source
  rule interpreter
  typed code repl ends /^-[a-z]*[evh]/
  is runnable versioned
  e.g. ruby -e 'x': execute; ruby: interactive
php <text>: execute
  -c -S -t -f = text
  -a -d = code
  -r -B -R -E = source
  rule interpreter
  typed code repl ends /^-[BRESfhilmrstvw]|^--r/ stays /^-a$/
  is runnable versioned
  e.g. php -r 'x': execute; php: interactive
m4 <text>: execute
  rule interpreter
  e.g. m4 x: execute
gnuplot <text>: execute
  -e = source
  rule interpreter
  e.g. gnuplot -e 'plot x': execute
lua luajit <text>: execute
  -l = code
  -e = source
  rule interpreter
  typed code repl ends /^-[ev]/ stays /^-i$/
  is versioned
  e.g. lua -e x: execute; lua: interactive
tclsh wish expect <text>: execute
  -c = source
  rule interpreter
  typed code repl ends /^-[cf]/ stays /^-i$/
  is versioned of tclsh
  e.g. expect -c x: execute; tclsh: interactive
ocaml raku clj crystal nim kotlinc csi gp maxima sage <text>: execute
  -e -eval --eval -c --batch-string = source
  rule interpreter
  typed code repl ends /^(?:-[ecfgmvh]|--(?:eval|exec|script|main).*)$/ stays /^-i$/ of ocaml raku clj
  e.g. ocaml -e x: execute; ocaml: interactive; crystal x: execute
Rscript erl ghc runghc groovy kotlin osascript jrunscript bb R elixir swipl guile racket sbcl clojure scala octave \
    ghci jshell <text>: execute
  -e -E --eval -eval -g -c = source
  rule interpreter
  typed code unless /^(?:-[ef]|--file=.*|CMD)$/ of R
  typed code repl ends /^(?:-[ecfgmvh]|--(?:eval|exec|script|main).*)$/ stays /^-i$/ of elixir swipl guile racket \
      sbcl clojure scala octave
  typed code always of ghci jshell
  e.g. Rscript -e x: execute; R: interactive; elixir x: execute; ghci x: interactive
julia <text>: execute
  like Rscript
  -J -t -p -L = text
  typed code repl ends /^(?:-[eEvh]|--eval|--print)/ stays /^-i$/
  e.g. julia: interactive
awk gawk mawk nawk original-awk <awk-program read>: read
  -e --source = awk-program
  -f --file -E --exec = awk-script
  -F -v --field-separator --assign = text
  -l --load -i --include = text ! obfuscated loads other code
  -d -p -o --dump-variables --profile --pretty-print =? text
  rule dumps
  unknown words are quoted operands
  typed code script of awk gawk mawk nawk
  is versioned of awk
  e.g. awk '{print $1}' x: read; awk -f -: interactive; original-awk x: read
gdb <text>: execute
  -ex -x -iex --eval-command --command --batch-silent -o = code unless \
      /^(?:bt|backtrace|where|thread apply all bt|info [a-z ]+|x\/\w+ \S+|list|disassemble|quit|q|run|r|set (?:pagination|confirm) off)(?: full)?$/
  -p --pid = text ! exfiltration reads the memory of a process
  when input ! obfuscated {it} runs commands from its input, which cannot be judged
  --args: execute
    runs
  typed code unless /^(?:--?batch(?:-silent)?|-b)$/
  e.g. gdb ./x: interactive; gdb --args ls: interactive
lldb <text>: execute
  like gdb
  --: execute
    runs
  typed code unless /^(?:--?batch(?:-silent)?|-b)$/
  e.g. lldb -- ls: interactive
pdflatex xelatex lualatex latex tex pdftex latexmk: execute
  -shell-escape --shell-escape -enable-write18 ! obfuscated lets a document run commands
  -interaction -output-directory -jobname = text
  e.g. pdflatex x: execute
gs: execute
  -dNOSAFER -dDELAYSAFER ! obfuscated lets a document run commands
  e.g. gs x: execute
convert magick mogrify identify <read... write>: execute
  when /^(?:msl|ephemeral|mvg|text|label|url|https?|show|win|x|plt|video):/i ! obfuscated \
      {it} uses a coder that may read, delete or run files
  e.g. convert a b: execute
bpython ptpython:
  like %python
irb pry iex groovysh pdb:
  typed code always
  e.g. irb: interactive
python3:
  is runnable
`;

/** Effects of an awk program beyond printing: it runs commands, reads from them, or writes files. Source: gawk(1). */
const BEYOND_PRINTING =
  /\bsystem\s*\(|\bgetline\b|(?<!\|)\|(?!\|)|\bprintf?\b[^;}\n]*>|@(?:load|include)|\bclose\s*\(|\/inet|@\w+\s*\(/;

/** `print … > "name"`, where the string is the whole file name. */
const OUTPUT = /(\bprintf?\b(?:[^;}\n">|]|"(?:\\.|[^"\\\n])*")*)>{1,2}\s*"([\w./@%+-]+)"(?=\s*(?:[;}\n]|$))/g;

/** A program in a file, or on standard input. */
function judgeAwkScript(subject: CommandAnalysis, script: Argument): void {
  subject.does('runs a script', script.text);
  if (script.isProcess) subject.does('runs the output of another command');
  subject.read(script);
  judgeFetchedScript(subject, script);
  const { stdin } = subject.command;
  if (isInputName(script.value) && stdin && stdin.kind !== 'file')
    subject.does('runs code from its input, which cannot be judged');
}

/** A program of awk processes text, as long as it only prints. */
function judgeAwkProgram(subject: CommandAnalysis, program: Argument): void {
  if (program.value === undefined) subject.addUnknown(program, 'the program that awk runs');
  if (program.shape.length > POLICY_LIMITS.maxScriptLength) {
    subject.does('runs a program that is too long to be judged');
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
  if (BEYOND_PRINTING.test(code)) subject.does('runs commands or writes files');
}

/** Options with which gawk writes its program or variables to a file, if they stand before its program. */
const DUMPS: ReadonlySet<string> = new Set(['-d', '-p', '-o', '--dump-variables', '--profile', '--pretty-print']);

function judgeDumps(subject: CommandAnalysis, { args }: ProgramCall, { options = {} }: ProgramSpec): void {
  for (const { name, value } of parseArguments(args, options, true).options)
    if (value && DUMPS.has(name)) subject.write(value);
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
function judgeInterpreter(subject: CommandAnalysis, _call: ProgramCall, { options = {} }: ProgramSpec): void {
  const parsed = parseArguments(subject.args, options, true);
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
    const hasCode = parsed.options.some(({ spec }) => spec?.value && GIVES_CODE.has(spec.value));
    judgeStdin(subject, script, hasCode);
  }
}

/** The program of the adapter itself, as a script. */
const OWN_PROGRAM = /(?:^|\/)(?:dist\/main\.js|dist\/shell-adapter\.cjs|shell-adapter)$/;

/** Scripts of frameworks that have a table of their own. */
const MANAGER = /(?<![^/])(?:artisan|manage\.py)$/;

function judgeKnownScript(subject: CommandAnalysis, script: Argument, args: readonly Argument[]): void {
  const path = script.value ?? '';
  const name = OWN_PROGRAM.test(path) ? 'shell-adapter' : MANAGER.exec(path)?.[0];
  if (name !== undefined) subject.runWords([literal(name), ...args]);
}

function scriptOf({ args, program }: CommandAnalysis, { operands }: ParsedArguments): Argument | undefined {
  const head = args.find(({ shape }) => shape === '--' || !shape.startsWith('-'));
  // php: the words after `--` are arguments of the script, which is read from standard input.
  return program === 'php' && head?.shape === '--' ? undefined : operands[0];
}

/** `php -S`: the script handles the requests, unless it is the output of another command. */
const isPhpServer = ({ program }: CommandAnalysis, parsed: ParsedArguments, script: Argument | undefined): boolean =>
  program === 'php' && script?.isProcess !== true && hasOption(parsed, '-S');

/** Roles of options whose value is the program, or names it. */
const GIVES_CODE: ReadonlySet<Role> = new Set([ROLES.source, ROLES.code, ROLES.text]);

/** Judges a script that is no file with a known name; returns false when it is one. */
function judgeUnknownScript(subject: CommandAnalysis, script: Argument): boolean {
  const label = subject.program ?? 'it';
  if (script.isProcess) subject.does('runs the output of another command');
  else if (DESCRIPTOR.test(script.shape) && !subject.command.stdin)
    subject.does('runs code from a file descriptor', script.text);
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
    subject.does('runs the code on its input');
    judgeVisibleEffects(subject, stdin.text);
  } else if (stdin.kind !== 'file') subject.does('runs code from its input, which cannot be judged');
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
  if (!subject.args.some(({ shape }) => LOOPBACK.test(shape))) subject.does('serves files to other machines');
}

/** Perl as an interpreter. -l, -0, -C and -F take an attached value or none: the next argument may be -e. */
const PERL: ProgramSpec = {
  class: 'execute',
  operands: { first: [], others: ROLES.text, last: [] },
  options: {
    ...valued('-I'),
    ...each('-M -m -x -n -p -i -d', { value: ROLES.code }),
    ...each('-e -E', { value: ROLES.source }),
  },
  judge: judgeInterpreter,
};

function judgePerl(subject: CommandAnalysis): void {
  if (!judgeTextEditing(subject)) judgeProgram(subject, PERL, 'perl');
}

export const INTERPRETERS: ProgramFamily = {
  name: 'interpreters',
  entries: ENTRIES,
  rules: {
    judges: {
      interpreter: judgeInterpreter,
      perl: judgePerl,
      dumps: judgeDumps,
    },
    roles: {
      'awk-program': { takenFor: 'a program of awk', slot: 'program', risk: 'writes', judge: judgeAwkProgram },
      'awk-script': { takenFor: 'a file with a program of awk', slot: 'program', judge: judgeAwkScript },
    },
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
  startupPaths: '.gdbinit .lldbinit .irbrc .pryrc .Rprofile ~/.pythonrc* ~/.config/gdb/**',
};
