import type { Subject } from '../subject.js';
import { judgeAwk } from '../special/awk.js';
import { each, type OptionSpec, type ProgramSpec, type ProgramTable, valued } from './spec.js';
import { parseArguments } from '../options.js';
import { DESCRIPTOR, isInputName } from '../shells.js';
import { judgeFetchedScript } from '../run-file.js';

/** Judges an interpreter by its input: code that nobody has seen, if it is given there. */
const judgeInput =
  (options: Readonly<Record<string, OptionSpec>>) =>
  (subject: Subject): void => {
    const { stdin } = subject.command;
    const { operands, options: given } = parseArguments(subject.args, { options, stopsAtOperand: true });
    const label = subject.program ?? 'it';
    const head = subject.args.find(({ shape }) => shape === '--' || !shape.startsWith('-'));
    // php: what follows `--` is for the script, and that is its input.
    const script = label === 'php' && head?.shape === '--' ? undefined : operands[0];
    const hasCode = given.some(({ spec }) => spec?.value === 'code' || spec?.value === 'text');
    // It runs its argument as code.
    if (given.some(({ name, value }) => name === '-m' && value?.shape === 'timeit'))
      subject.find('obfuscated', `${label} -m timeit runs code that cannot be judged`);
    if (script?.isProcess === true) subject.find('obfuscated', `${label} runs what another command prints`);
    else if (script && DESCRIPTOR.test(script.shape) && !stdin)
      subject.find('obfuscated', `${label} runs what a descriptor gives: ${script.text}`);
    else if (script?.value === undefined && script) subject.findUnknown(script, `the script that ${label} runs`);
    else if (stdin && !hasCode && (!script || isInputName(script.value))) {
      if (stdin.kind === 'file') return;
      subject.find('obfuscated', `${label} runs code from its input that cannot be judged`);
    } else if (script) judgeFetchedScript(subject, script);
  };

/** `deno run` and `bun run`: what they run may be their input, or come from another machine. */
export function judgeRun(subject: Subject): void {
  const label = subject.program ?? 'it';
  for (const { shape, value } of subject.args) {
    if (isInputName(value) && subject.command.stdin)
      subject.find('obfuscated', `${label} runs code from its input that cannot be judged`);
    if (/^(?:https?|jsr|npm):/.test(shape)) subject.find('network', `${label} fetches what it runs: ${shape}`);
    if (/^https?:/.test(shape)) subject.find('obfuscated', `${label} runs code from another machine: ${shape}`);
  }
}

/** An interpreter with the options by which it takes code, takes a value, or names a module. */
function interpreter(code: string, values = '', modules = ''): ProgramSpec {
  const options: Readonly<Record<string, OptionSpec>> = {
    ...(values && valued(values)),
    ...(modules && each(modules, { value: 'text' })),
    ...(code && each(code, { value: 'code' })),
  };
  return { class: 'execute', operands: 'text', options, judge: judgeInput(options) };
}

/** Interpreters and editors: programs that run code of their own languages. */
export const INTERPRETERS: ProgramTable = {
  ...each('python pypy ipython', interpreter('-c', '-W -X', '-m')),
  ...each(
    'node nodejs',
    interpreter('-e -p --eval --print -r --require --import --loader --experimental-loader', '-C --conditions'),
  ),
  ...each('deno', {
    class: 'execute',
    operands: 'text',
    judge: judgeRun,
    subcommands: { eval: { class: 'obfuscated', reason: 'runs code that cannot be judged', operands: 'text' } },
  }),
  ...each('tsx ts-node', interpreter('-e -p --eval --print -r --require --import')),
  // Of -l, -0, -C and -F a value is attached, or there is none: what follows may be -e.
  perl: interpreter('-e -E -M -m -x -n -p -i -d', '-I'),
  ruby: interpreter('-e -r -n -p -i', '-I -C -E -F'),
  php: interpreter('-r -B -R -E -a -d', '-c -S -t -f'),
  m4: interpreter(''),
  ...each('lua luajit', interpreter('-e -l')),
  ...each('tclsh wish expect', interpreter('-c')),
  ...each(
    'Rscript R julia elixir erl ghc runghc ghci swipl guile racket sbcl clojure groovy scala kotlin jshell osascript octave',
    interpreter('-e -E --eval -eval -g -c'),
  ),
  java: {
    class: 'execute',
    operands: 'text',
    options: { ...valued('-cp -classpath --class-path -jar'), '-javaagent': { value: 'code' } },
  },
  ...each('awk gawk mawk nawk original-awk', { class: 'read', operands: 'text', judge: judgeAwk }),
  ...each('vi vim nvim view ex rvim gvim', {
    class: 'write',
    options: { ...each('-c --cmd -S -s -u -U -W -w -es', { value: 'code' }), ...valued('-t -T -i') },
    operands: 'write',
    judge: (subject) => {
      for (const { shape } of subject.args)
        if (/^\+\D/.test(shape)) subject.find('obfuscated', 'an editor runs commands');
    },
  }),
  ...each('emacs', {
    class: 'execute',
    options: each('--eval --execute -l --load -f --funcall --script -batch --batch', { value: 'code' }),
    operands: 'write',
  }),
  ...each('nano pico micro joe ed red', {
    class: 'write',
    operands: 'write',
    judge: (subject) => {
      if (subject.command.stdin) subject.find('obfuscated', 'an editor runs commands from its input');
    },
  }),
  ...each('gdb lldb', {
    class: 'execute',
    operands: 'text',
    options: {
      ...each('-ex -x -iex --eval-command --command --batch-silent -o', { value: 'code' }),
      ...valued('-p --pid'),
    },
  }),
};
