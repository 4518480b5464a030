import { repl, typedCode, typedScript, unless } from '../../family/typing-rules.js';
import type { TypingTable } from '../../model/typing.js';
import { each } from '../../subject/program-spec.js';

/** Interpreters that execute what is typed. Source: their manual pages. */
export const TYPING: TypingTable = {
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
