import type { Subject } from '../subject.js';
import { judgeAwk } from '../special/awk.js';
import { each, type OptionSpec, type ProgramSpec, type ProgramTable, valued } from './spec.js';
import { parseArguments } from '../options.js';

/** Judges an interpreter by its input: code that nobody has seen, if it is given there. */
const judgeInput =
  (options: Readonly<Record<string, OptionSpec>>) =>
  (subject: Subject): void => {
    const { stdin } = subject.command;
    const { operands, options: given } = parseArguments(subject.args, { options, stopsAtOperand: true });
    const [script] = operands;
    const label = subject.program ?? 'it';
    const hasCode = given.some(({ spec }) => spec?.value === 'code' || spec?.value === 'text');
    if (script?.isProcess === true) subject.find('obfuscated', `${label} runs what another command prints`);
    else if (script?.value === undefined && script) subject.findUnknown(script, `the script that ${label} runs`);
    else if (stdin && !hasCode && (!script || ['-', '/dev/stdin', '/dev/fd/0'].includes(script.value ?? ''))) {
      if (stdin.kind === 'file') return;
      subject.find('obfuscated', `${label} runs code from its input that cannot be judged`);
    }
  };

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
    subcommands: { eval: { class: 'obfuscated', reason: 'runs code that cannot be judged', operands: 'text' } },
  }),
  ...each('tsx ts-node', interpreter('-e -p --eval --print -r --require --import')),
  perl: interpreter('-e -E -M -m -x -n -p -i -d', '-I -F -0 -C -l'),
  ruby: interpreter('-e -r -n -p -i', '-I -C -E -F'),
  php: interpreter('-r -B -R -E -a -d', '-c -S -t -f'),
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
