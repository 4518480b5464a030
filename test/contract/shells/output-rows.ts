import { alive, type Row, run, runWith } from './table.js';

const MEGABYTE = 1_000_000;
const LONG_TEXT = 'y'.repeat(900_000);
const HEREDOC_LINES = 2000;
const HEREDOC = `cat <<'EOF' | wc -l\n${`${'z'.repeat(70)}\n`.repeat(HEREDOC_LINES)}EOF`;
const EVERY_NUMBER = Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join('');
const TRACE = 'the marks of the trace are the shell’s own';

/** What commands print, and what text they may be. */
export const OUTPUT_ROWS: readonly Row[] = [
  {
    title: 'stdout and stderr apart, each to the byte',
    steps: [
      run('echo e >&2; echo o', { stdout: 'o\n', stderr: 'e\n' }),
      run('printf abc', { stdout: 'abc' }),
      run("printf '  x'; printf '\\n\\n' >&2", { stdout: '  x', stderr: '\n\n' }),
      run("printf 'one\\r\\ntwo\\tthree\\r\\n'", { stdout: 'one\r\ntwo\tthree\r\n' }),
    ],
  },
  {
    title: 'both streams as one, in the order of writing',
    steps: [
      runWith({ isMerged: true }, 'for i in 1 2 3; do echo o$i; echo e$i >&2; done', {
        stdout: 'o1\ne1\no2\ne2\no3\ne3\n',
      }),
      runWith({ isMerged: true, stdin: 'in\n', cwd: '/' }, 'cat >&2; pwd', { stdout: 'in\n/\n' }),
      runWith({ isMerged: true, args: ['-c', 'echo o; echo e >&2; exit 3'] }, 'sh', { stdout: 'o\ne\n', exitCode: 3 }),
      run('echo e >&2; echo o', { stdout: 'o\n', stderr: 'e\n' }),
    ],
  },
  { title: 'NUL bytes', steps: [run("printf 'a\\0b\\n\\0'", { stdout: 'a\0b\n\0' })] },
  { title: 'characters of every length', steps: [run('printf %s "aé漢😀āăąŀ"', { stdout: 'aé漢😀āăąŀ' })] },
  {
    title: 'a line of a megabyte, on either output',
    steps: [
      run(`head -c ${MEGABYTE} /dev/zero | tr '\\0' x`, { stdout: 'x'.repeat(MEGABYTE) }),
      run(`head -c ${MEGABYTE} /dev/zero | tr '\\0' x >&2`, { stderr: 'x'.repeat(MEGABYTE) }),
    ],
  },
  { title: 'nothing is lost at the end', steps: [run('seq 1 20000', { stdout: EVERY_NUMBER })] },
  {
    title: 'what looks like a mark of the driver is output',
    steps: [
      run('printf \'\\033]7711;z%s\\007\\n\' "$__sa_nonce" | wc -c; false', { stdout: /^\d+\n$/, exitCode: 1 }),
      run("printf 'ready 0 0 /\\0idle 0 0 /\\0'; false", { stdout: 'ready 0 0 /\0idle 0 0 /\0', exitCode: 1 }),
    ],
  },
  {
    title: 'exit codes',
    steps: [
      run('true'),
      run('false', { exitCode: 1 }),
      run('echo $?', { stdout: '1\n' }),
      run('(exit 7)', { exitCode: 7 }),
      run('(exit 5) & wait $!', { exitCode: 5 }),
      run('no_such_program_xyz', { stderr: /not found/, exitCode: 127 }),
      run('/etc/passwd', { stderr: /ermission denied/, exitCode: 126 }),
      run(
        "sh -c 'kill -TERM $$'",
        { exitCode: 143 },
        { sh: { stderr: 'Terminated\n', exitCode: 143, because: 'it names the signal on stderr' } },
      ),
      alive,
    ],
  },
  {
    title: 'here-documents, quotes and line ends',
    steps: [
      run("cat <<'EOF'\na $b\n  c\nEOF", { stdout: 'a $b\n  c\n' }),
      run('cat <<EOF\n$((1 + 2))\nEOF\necho x', { stdout: '3\nx\n' }),
      run("echo 'it'\\''s' \"a!b\" !! '$x'", { stdout: "it's a!b !! $x\n" }),
      run('echo a \\\n b', { stdout: 'a b\n' }),
      run(
        'echo a \\',
        { stdout: 'a \\\n' },
        { zsh: { stdout: 'a \n', because: 'a backslash at the end of the text is dropped' } },
      ),
      run('echo a # comment', { stdout: 'a\n' }),
      run('# nothing but a comment'),
      run(''),
      run('\n\n  \n'),
      run('echo a\r\n', { stdout: 'a\r\n' }),
    ],
  },
  {
    title: 'a program with arguments of every kind',
    steps: [
      runWith(
        { args: ['<%s>', "it's", '$x "y" `z`', '*', '', '-n', '\\', 'a\nb', '!!', '~', '{a,b}', 'é😀'] },
        'printf',
        {
          stdout: `<it's><$x "y" \`z\`><*><><-n><\\><a\nb><!!><~><{a,b}><é😀>`,
        },
      ),
      runWith({ args: ['-c', 'exit 3'] }, 'sh', { exitCode: 3 }),
    ],
  },
  {
    title: 'long texts',
    steps: [
      run(`x='${LONG_TEXT}'; echo \${#x}`, { stdout: `${LONG_TEXT.length}\n` }),
      run(HEREDOC, { stdout: `${HEREDOC_LINES}\n` }),
      alive,
    ],
  },
  {
    title: 'a syntax error ends the command at once, and nothing else',
    steps: [
      run(
        'echo "abc',
        { stderr: /nterminated quoted string|unexpected EOF/, exitCode: 2 },
        { zsh: { stderr: /unmatched "/, exitCode: 1, because: 'its code for syntax errors is 1' } },
      ),
      run(
        'if true; then',
        { stderr: /unexpected/, exitCode: 2 },
        { zsh: { stderr: /parse error/, exitCode: 1, because: 'its code for syntax errors is 1' } },
      ),
      run(
        'f() {\n echo )\n}',
        { stderr: /unexpected/, exitCode: 2 },
        { zsh: { stderr: /parse error/, exitCode: 1, because: 'its code for syntax errors is 1' } },
      ),
      alive,
    ],
  },
  {
    title: 'a text on stdin',
    steps: [
      runWith({ stdin: 'a\nb' }, 'cat', { stdout: 'a\nb' }),
      runWith({ stdin: 'a\nb\n' }, 'read x; echo "[$x]"; cat', { stdout: '[a]\nb\n' }),
      runWith({ stdin: '' }, 'cat; echo end', { stdout: 'end\n' }),
    ],
  },
  {
    title: 'a command on the terminal: everything on stdout, and no more than its own',
    steps: [
      runWith({ tty: true }, 'test -t 0 && test -t 1 && test -t 2; echo out; echo err >&2; exit 3', {
        stdout: 'out\r\nerr\r\n',
        exitCode: 3,
      }),
      runWith({ tty: true }, 'printf abc', { stdout: 'abc' }),
      runWith({ tty: true, stdin: 'x\ny' }, 'cat', { stdout: 'x\r\ny' }),
      runWith(
        { tty: true },
        'echo )',
        { stdout: /error[^]*\r\n$/, exitCode: 2 },
        {
          zsh: { stdout: /error[^]*\r\n$/, exitCode: 1, because: 'its code for syntax errors is 1' },
        },
      ),
      runWith({ tty: true }, 'exec >captured; echo hidden'),
      runWith({ tty: true }, 'cat captured; tput cols', { stdout: 'hidden\r\n80\r\n' }),
      runWith({ tty: true }, 'set -x; echo a', { stdout: /^\S+ echo a\r\na\r\n$/ }),
      runWith({ tty: true }, 'echo b; set +x', { stdout: /^\S+ echo b\r\nb\r\n\S+ set \+x\r\n$/ }),
      alive,
    ],
  },
  {
    title: 'set -x and set -v show the command’s own lines alone',
    steps: [
      run('set -x'),
      run(
        'echo a; false',
        { stdout: 'a\n', stderr: /^(\++) echo a\n\1 false\n$/, exitCode: 1 },
        {
          zsh: { stdout: 'a\n', stderr: '+(eval):1> echo a\n+(eval):1> false\n', exitCode: 1, because: TRACE },
        },
      ),
      run('echo $?', { stdout: '1\n', stderr: /echo 1\n$/ }),
      run('set +x', { stderr: /^\S+ set \+x\n$/ }),
      run('set -v'),
      run(
        'echo c',
        { stdout: 'c\n' },
        { bash: { stdout: 'c\n', stderr: 'echo c\n', because: 'it shows what eval reads' } },
      ),
      run('set +v', {}, { bash: { stderr: 'set +v\n', because: 'it shows what eval reads' } }),
      alive,
    ],
  },
];
