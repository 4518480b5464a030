import { expect } from 'vitest';

import { conformance } from './harness/runner.js';
import { alone, run, type Trap } from './harness/table.js';

const HEREDOC_2000 = `cat >lines <<'EOF'\n${`${'x'.repeat(69)}\n`.repeat(2000)}EOF\nwc -l <lines; wc -c <lines`;
const FUNCTIONS_10000 = Array.from({ length: 2500 }, (_, n) => `f${n}() {\n  local a=${n}\n  echo $a\n}`).join('\n');

const page: Trap[] = [
  { id: 'C1', title: 'a heredoc', steps: [run("cat <<'EOF'\na $b\n  c\nEOF", { stdout: 'a $b\n  c\n' })] },
  { id: 'C3', title: 'a heredoc of 2 000 lines', steps: [run(HEREDOC_2000, { stdout: '2000\n140000\n' })] },
  {
    id: 'C5',
    title: 'an unbalanced quote',
    steps: [
      run('echo "abc', { exit_code: 2, stderr: /unexpected EOF while looking for matching/ }),
      run("echo 'abc", { exit_code: 2, stderr: /unexpected EOF while looking for matching/ }),
      alone('echo "abc', { exit_code: 2, stderr: /unexpected EOF while looking for matching/ }),
    ],
  },
  {
    // The end of the text ends the line, as the end of a script's file does: what is left of the backslash is bash's
    // to decide, and differs between its versions.
    id: 'C7',
    title: 'a backslash at the end',
    steps: [
      run('echo a \\', { stdout: /^a (?:\\)?\n$|^a\n$/ }),
      run('echo b \\\n', { stdout: 'b\n' }),
      run('echo c\\', { stdout: /^c\\?\n$/ }),
    ],
  },
  {
    id: 'C9',
    title: 'history expansion is off',
    steps: [
      run('echo a!b', { stdout: 'a!b\n' }),
      run('echo "wow!"', { stdout: 'wow!\n' }),
      run('echo !! !$ !-1 ^a^b', { stdout: '!! !$ !-1 ^a^b\n' }),
      run('false; echo $?!', { stdout: '1!\n' }),
    ],
  },
  {
    // A lone carriage return is a character like any other; CRLF as the end of a line is bash's to judge: the carriage
    // return belongs to the last word of its line.
    id: 'C11',
    title: 'NUL is refused; carriage returns',
    steps: [
      run('echo a\0b', { error: 'INVALID_REQUEST' }),
      alone('echo a\0b', { error: 'INVALID_REQUEST' }),
      run('echo a\rb', { stdout: 'a\rb\n' }),
      run('echo a\r\necho b\r\n', { stdout: /^a\r?\nb\r?\n$/ }),
    ],
  },
  {
    id: 'C13',
    title: 'an escaped semicolon',
    steps: [run('touch x; find . -name x -exec echo {} \\;', { stdout: './x\n' })],
  },
  { id: 'C15', title: 'arrays', steps: [run('[[ a == a ]] && A=(1 2) && echo ${#A[@]}', { stdout: '2\n' })] },
  {
    id: 'C17',
    title: 'a repeated command_id runs once',
    run: async (trap) => {
      const id = trap.newCommandId();
      const first = await trap.run('echo x >>runs; wc -l <runs', { command_id: id });
      const again = await trap.run('echo x >>runs; wc -l <runs', { command_id: id });
      expect({ first: first.stdout, again: again.stdout }).toEqual({ first: '1\n', again: '1\n' });
      expect((await trap.run('wc -l <runs')).stdout).toBe('1\n');
    },
  },
];

const SYNTAX_ERROR = { exit_code: 2, stderr: /syntax error/ };

const more: Trap[] = [
  {
    id: 'C2',
    title: 'unfinished text of every kind',
    steps: [
      ...[
        'if true',
        'while true; do',
        'for i in 1 2',
        'case x in',
        '{ echo',
        '( echo',
        'f() {',
        'echo $(',
        'echo `date',
      ].map((text) => run(text, { exit_code: 2, stderr: /unexpected|syntax error/ })),
      run('echo ${x', { exit_code: 2, stderr: /./ }),
      run('[[ a ==', { exit_code: 2, stderr: /./ }),
      run('echo $((1+', { exit_code: 2, stderr: /./ }),
    ],
  },
  {
    id: 'C4',
    title: 'syntax errors',
    steps: [
      ...['fi', 'done', ')', '}', ';;', '| cat', '&& true', 'true &&& true', 'for', 'echo a; ;'].map((text) =>
        run(text, SYNTAX_ERROR),
      ),
      run('echo before\n)\necho after', { stdout: 'before\n', ...SYNTAX_ERROR }),
    ],
  },
  {
    id: 'C6',
    title: 'an unterminated heredoc ends with the text',
    steps: [
      run('cat <<EOF\nabc', { stdout: /^abc\n?$/, stderr: /here-document|^$/ }),
      run('cat <<EOF', { stderr: /here-document|^$/ }),
    ],
  },
  {
    id: 'C8',
    title: 'text that is no command',
    steps: [
      run('', {}),
      run('   ', {}),
      run('\n\n\n', {}),
      run('# a comment', {}),
      run('true # a comment', {}),
      run(':', {}),
    ],
  },
  {
    id: 'C10',
    title: 'text of 900 KB',
    steps: [
      run(`x='${'é漢😀y'.repeat(90_000)}'; echo \${#x}`, { stdout: '360000\n' }),
      run(`: ${'a '.repeat(450_000)}\necho end`, { stdout: 'end\n' }),
      alone(`x='${'y'.repeat(900_000)}'; echo \${#x}`, { stdout: '900000\n' }),
    ],
  },
  {
    id: 'C12',
    title: '20 000 arguments',
    steps: [
      run(`set -- ${'a '.repeat(20_000)}; echo $#; set --`, { stdout: '20000\n' }),
      run(`/bin/echo ${'b '.repeat(20_000)} | wc -w`, { stdout: '20000\n' }),
      run('printf', { stdout: 'a'.repeat(20_000) }, { args: ['a%.0s', ...Array.from({ length: 20_000 }, () => 'x')] }),
    ],
  },
  {
    id: 'C14',
    title: '10 000 lines of functions',
    steps: [run(FUNCTIONS_10000, {}), run('f0; f2499; declare -F | wc -l', { stdout: /^0\n2499\n\d+\n$/ })],
  },
  {
    id: 'C16',
    title: 'a here-string of 1 MB',
    steps: [run('x=$(printf %01000000d 0); wc -c <<<"$x"', { stdout: '1000001\n' })],
  },
  {
    id: 'C18',
    title: 'quotes in quotes',
    steps: [
      run('echo "a \'b\' \\"c\\" \\$d `echo e` $(echo "f $(echo "g")")"', { stdout: `a 'b' "c" $d e f g\n` }),
      run(String.raw`echo $'tab\there\x41\u00e9\'q\''`, { stdout: "tab\thereA\u00e9'q'\n" }),
      run(String.raw`echo 'it'\''s' "it's" it\'s`, { stdout: "it's it's it's\n" }),
      run(`bash -c "bash -c \\"echo 'deep \\\\\\"quotes\\\\\\"'\\""`, { stdout: 'deep "quotes"\n' }),
    ],
  },
  {
    id: 'C20',
    title: 'names with emoji, right-to-left marks and newlines',
    steps: [
      run("touch '😀' 'שלום' $'a\\nb' ' ' -- '-rf'; for f in *; do printf '[%s]' \"$f\"; done", {
        stdout: /\[a\nb\]/,
        check: ({ stdout }) => {
          for (const name of ['😀', 'שלום', ' ', '-rf']) expect(stdout).toContain(`[${name}]`);
        },
      }),
    ],
  },
  {
    id: 'C22',
    title: 'arguments are passed as they are',
    steps: [run, alone].map((how) =>
      how(
        'printf',
        { stdout: `[]['"][$HOME][*][a b][\n][\\][-n][😀][;ls][!]` },
        { args: ['[%s]', '', `'"`, '$HOME', '*', 'a b', '\n', '\\', '-n', '😀', ';ls', '!'] },
      ),
    ),
  },
  {
    id: 'C24',
    title: 'stdin given as text',
    steps: [run, alone].flatMap((how) => [
      how('cat', { stdout: 'a\nb' }, { stdin: 'a\nb' }),
      how('cat', {}, { stdin: '' }),
      how('wc -c', { stdout: '1000000\n' }, { stdin: 'x'.repeat(1_000_000) }),
      how('read -r a; cat; echo "<$a>"', { stdout: '2\n3\n<1>\n' }, { stdin: '1\n2\n3\n' }),
      how('true', {}, { stdin: 'nobody reads this\n'.repeat(10_000) }),
    ]),
  },
  {
    id: 'C26',
    title: 'process substitution, coproc, here-strings',
    steps: [
      run('diff <(echo a) <(echo b) >/dev/null', { exit_code: 1 }),
      run('echo a | tee >(cat >copy) >/dev/null; sleep 0.2; cat copy', { stdout: 'a\n', takesMs: 200 }),
      run(
        'coproc cat; echo hi >&${COPROC[1]}; read -r x <&${COPROC[0]}; echo $x; eval "exec ${COPROC[1]}>&-"; wait $COPROC_PID',
        {
          stdout: 'hi\n',
          stderr: /^(\[\d+\] \d+\n)?$/,
        },
      ),
    ],
  },
  {
    id: 'C28',
    title: 'many commands sent at once run in order',
    run: async (trap) => {
      const numbers = Array.from({ length: 30 }, (_, n) => n);
      const results = await Promise.all(numbers.map((n) => trap.run(`echo ${n} >>order; echo ${n}`)));
      expect(results.map(({ stdout }) => stdout)).toEqual(numbers.map((n) => `${n}\n`));
      expect((await trap.run('cat order')).stdout).toBe(numbers.map((n) => `${n}\n`).join(''));
    },
  },
];

conformance('C. Input text', [...page, ...more]);
