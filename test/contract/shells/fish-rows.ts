import { type Row, run, runWith } from './table.js';

const MEGABYTE = 1_000_000;
const LONG_TEXT = 'y'.repeat(900_000);

/** A command that shows that the session still answers exactly. */
export const ALIVE = run('echo "alive; "(math 1 + 1)', { stdout: 'alive; 2\n' });

const NO_ERREXIT = 'fish has no such option';
const NO_TRAP = 'fish has no such trap';

/** Rows of the contract that fish makes impossible, with the reason. */
export const LEFT_OUT: ReadonlyMap<string, string> = new Map([
  ['set -x and set -v show the command’s own lines alone', 'a trace of fish shows the lines of the driver too'],
  ['variables declared with typeset are global, arrays too', 'all its variables are lists, without types'],
  ['an error in an expansion ends the command', 'what is not set expands to nothing'],
  ['set -e ends the shell; a new one has directory, variables, functions and aliases', NO_ERREXIT],
  ['set -e does not end the shell for the status of the command before', NO_ERREXIT],
  ['functions in the place of what sh keeps for itself', 'it refuses such functions, or they are in the row before'],
  ['readonly variables', 'its only readonly variables are its own'],
  ['set -n', 'it cannot be set in a running shell'],
  ['traps on DEBUG and ERR see the user’s commands', NO_TRAP],
  ['descriptors closed, duplicated and redirected for good', 'exec takes no redirections without a program'],
  ['aliases over every word of the driver', 'aliases are functions: see the row on functions'],
]);

/** The contract of the shells in the language of fish; the titles are those of the other shells. */
export const FISH_ROWS: readonly Row[] = [
  {
    title: 'stdout and stderr apart, each to the byte',
    steps: [
      run('echo e >&2; echo o', { stdout: 'o\n', stderr: 'e\n' }),
      run("printf '  x'; printf '\\n\\n' >&2", { stdout: '  x', stderr: '\n\n' }),
      run("printf 'one\\r\\ntwo\\tthree\\r\\n'", { stdout: 'one\r\ntwo\tthree\r\n' }),
    ],
  },
  {
    title: 'both streams as one, in the order of writing',
    steps: [
      runWith({ isMerged: true }, 'for i in 1 2 3; echo o$i; echo e$i >&2; end', {
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
  {
    title: 'nothing is lost at the end',
    steps: [run('seq 1 20000 | tail -n 1', { stdout: '20000\n' }), run('echo a; command echo b', { stdout: 'a\nb\n' })],
  },
  {
    title: 'what looks like a mark of the driver is output',
    steps: [
      run('printf "\\e]7711;z%s\\a\\n" $__sa_nonce | wc -c; false', { stdout: /^\d+\n$/, exitCode: 1 }),
      run("printf 'ready 0 0 /\\0idle 0 0 /\\0'; false", { stdout: 'ready 0 0 /\0idle 0 0 /\0', exitCode: 1 }),
    ],
  },
  {
    title: 'exit codes',
    steps: [
      run('true'),
      run('false', { exitCode: 1 }),
      run('echo $status', { stdout: '1\n' }),
      run("sh -c 'exit 7'", { exitCode: 7 }),
      run('no_such_program_xyz', { stderr: /Unknown command/, exitCode: 127 }),
      run('/etc/passwd', { stderr: /./, exitCode: 126 }),
      run("sh -c 'kill -TERM $$'", { exitCode: 143 }),
      ALIVE,
    ],
  },
  {
    title: 'here-documents, quotes and line ends',
    steps: [
      run("echo 'it\\'s' \"a!b\" !! '$x' 'a\\\\b'", { stdout: "it's a!b !! $x a\\b\n" }),
      run('echo a \\\n b', { stdout: 'a b\n' }),
      run('echo a # comment', { stdout: 'a\n' }),
      run('# nothing but a comment'),
      run(''),
      run('\n\n  \n'),
    ],
  },
  {
    title: 'a program with arguments of every kind',
    steps: [
      runWith(
        { args: ['<%s>', "it's", '$x "y" `z`', '*', '', '-n', '\\', "\\'", 'a\nb', '!!', '~', '{a,b}', 'é😀'] },
        'printf',
        { stdout: `<it's><$x "y" \`z\`><*><><-n><\\><\\'><a\nb><!!><~><{a,b}><é😀>` },
      ),
      runWith({ args: ['-c', 'exit 3'] }, 'sh', { exitCode: 3 }),
    ],
  },
  {
    title: 'long texts',
    steps: [run(`set x '${LONG_TEXT}'; string length $x`, { stdout: `${LONG_TEXT.length}\n` }), ALIVE],
  },
  {
    title: 'a syntax error ends the command at once, and nothing else',
    steps: [
      run('echo "abc', { stderr: /quotes are not balanced/, exitCode: 1 }),
      run('echo no; if true', { stderr: /Missing end/, exitCode: 1 }),
      run('function f\n echo )\nend', { stderr: /^source: .*\nfish \(line 1\): Missing end/, exitCode: 1 }),
      ALIVE,
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
      runWith({ tty: true }, 'test -t 0; and test -t 1; and test -t 2; echo out; echo err >&2; exit 3', {
        stdout: 'out\r\nerr\r\n',
        exitCode: 3,
      }),
      runWith({ tty: true }, 'printf abc', { stdout: 'abc' }),
      runWith({ tty: true, stdin: 'x\ny' }, 'cat', { stdout: 'x\r\ny' }),
      runWith({ tty: true }, 'echo )', { stdout: /Unexpected[^]*\r\n$/, exitCode: 1 }),
      runWith({ tty: true }, 'tput cols', { stdout: '80\r\n' }),
      ALIVE,
    ],
  },
  {
    title: 'directory, variables, functions, aliases, parameters and options last',
    steps: [
      run('mkdir sub; and cd sub', { workingDirectory: '/sub' }),
      run('set X 1; set -gx Y 2; pwd', { stdout: /\/sub\n$/, workingDirectory: '/sub' }),
      run('function f; echo "f $argv[1] $X"; end; alias hi="echo hello"; set list a "b c"; umask 027'),
      run('f 3; hi; count $list; echo $list[2]; umask; sh -c \'echo "$X-$Y"\'', {
        stdout: 'f 3 1\nhello\n2\nb c\n0027\n-2\n',
      }),
      run('cd ..', { workingDirectory: '' }),
    ],
  },
  {
    title: 'variables and directory for one command',
    steps: [
      run('set -gx K old; set L local'),
      runWith(
        { env: { K: "v'1\n2\\", L: 'w', M: '' }, cwd: '/usr' },
        'printf "%s|" "$K" "$L" "$M" $PWD; sh -c \'printf "%s" "$K,$L,${M-unset}"\'; set K changed; cd /',
        { stdout: "v'1\n2\\|w||/usr|v'1\n2\\,w," },
      ),
      run('echo $K $L (set -q M; or echo unset); sh -c \'echo "$K ${L-unset}"\'', {
        stdout: 'old local unset\nold unset\n',
        workingDirectory: '',
      }),
      runWith({ env: { PATH: '/nowhere' } }, 'ls', { stderr: /Unknown command/, exitCode: 127 }),
      run('command ls -d /', { stdout: '/\n' }),
    ],
  },
  {
    title: 'variables and directory are put back however the command ends',
    steps: [
      run('set K old'),
      runWith({ env: { K: 'new' }, cwd: '/usr' }, 'exit 4', { exitCode: 4 }),
      run('echo $K', { stdout: 'old\n', workingDirectory: '' }),
      runWith({ env: { K: 'new' }, cwd: '/usr' }, 'echo "', { stderr: /./, exitCode: 1 }),
      run('echo $K', { stdout: 'old\n', workingDirectory: '' }),
    ],
  },
  {
    title: 'a command for which its surroundings cannot be had is not run',
    steps: [
      runWith({ cwd: '/no/such/directory' }, 'echo ran', { stderr: /^\/no\/such\/directory: /, exitCode: 126 }),
      runWith({ env: { version: '2' } }, 'echo ran', { stderr: /version/, exitCode: 1 }),
      ALIVE,
    ],
  },
  {
    title: 'exit ends the command, from any depth, and not the session',
    steps: [
      run('echo $fish_pid >pid; exit 3; echo no', { exitCode: 3 }),
      run('echo $status', { stdout: '3\n' }),
      run('function f; exit 4; echo no; end; f; echo no', { exitCode: 4 }),
      run("eval 'exit 6'; echo no", { exitCode: 6 }),
      run('while true; for i in 1 2; exit 7; end; end; echo no', { exitCode: 7 }),
      run('begin; exit 8; end >redirected; echo no', { exitCode: 8 }),
      run('exit 300', { exitCode: 255 }),
      run('test (cat pid) = $fish_pid; and echo same', { stdout: 'same\n' }),
    ],
  },
  { title: 'exit without a number', steps: [run('exit word', { stderr: /./, exitCode: 2 }), ALIVE] },
  {
    title: 'break, continue and return outside of what they are for',
    steps: [
      run('break', { stderr: /not inside of loop/, exitCode: 1 }),
      run('continue', { stderr: /not inside of loop/, exitCode: 1 }),
      run('return 5; echo no', { exitCode: 5 }),
      run('while true; break; end; echo end', { stdout: 'end\n' }),
      ALIVE,
    ],
  },
  {
    title: 'exec of a program that is not there',
    steps: [run('exec no_such_program_xyz', { stderr: /./, exitCode: 127 }), ALIVE],
  },
  {
    title: 'what replaces or kills the shell is survived',
    steps: [
      run(
        'cd /usr; set -gx KEPT 1 "a b\n\'"; set plain x \\\\; function f; echo kept; end; alias hi="echo hi"; umask 027',
      ),
      run('exec true', { sessionState: 'restarted' }),
      run('exec sh -c "echo out; exit 3"', { stdout: 'out\n', exitCode: 3, sessionState: 'restarted' }),
      runWith({ stdin: 'in\n' }, 'exec cat', { stdout: 'in\n', sessionState: 'restarted' }),
      run('exec sh -c "sleep 0.3; echo out" </dev/null', { stdout: 'out\n', sessionState: 'restarted' }),
      run('kill -9 $fish_pid', { exitCode: 137, sessionState: 'restarted' }),
      run('printf "%s|" $KEPT $plain (pwd) (umask); f; hi', { stdout: "1|a b\n'|x|\\|/usr|0027|kept\nhi\n" }),
    ],
  },
  {
    title: 'functions in the place of builtins',
    steps: [
      run('function printf; echo P; end; function cd; echo C; end; function kill; end; function source; echo S; end'),
      run('function contains; echo C; end; function true; false; end; function emit; end; function exit; echo E; end'),
      run('echo a', { stdout: 'a\n' }),
      run('builtin exit 5', { exitCode: 5 }),
      ALIVE,
    ],
  },
  {
    title: 'options, umask and IFS',
    steps: [
      run('umask 777; echo u', { stdout: 'u\n' }),
      run('umask; umask 022', { stdout: '0777\n' }),
      run('set IFS 0123456789/x'),
      ALIVE,
      run("set IFS ''"),
      ALIVE,
      run('exit 6', { exitCode: 6 }),
    ],
  },
  {
    title: 'no PATH',
    steps: [
      run('set PATH'),
      run('ls', { stderr: /Unknown command/, exitCode: 127 }),
      run('set PATH /usr/bin /bin; true'),
      ALIVE,
    ],
  },
  {
    title: 'a directory that is removed',
    steps: [
      run('mkdir gone; cd gone; rmdir ../gone', { workingDirectory: '/gone' }),
      run('echo a', { stdout: 'a\n', workingDirectory: '/gone' }),
      run('cd ..', { workingDirectory: '' }),
      ALIVE,
    ],
  },
  {
    title: 'a directory of an odd name, also for the shell that follows',
    steps: [
      run('set d "a\'b\nc\\"d \\\\ \\$e"; mkdir $d; cd $d', { workingDirectory: '/a\'b\nc"d \\ $e' }),
      run('kill -9 $fish_pid', { exitCode: 137, sessionState: 'restarted', workingDirectory: '/a\'b\nc"d \\ $e' }),
      run('basename $PWD', { stdout: 'a\'b\nc"d \\ $e\n', workingDirectory: '/a\'b\nc"d \\ $e' }),
    ],
  },
  {
    title: 'the driver’s own files, removed',
    isPrevented: true,
    steps: [
      run('set -gx KEPT 1; cd /usr'),
      run('rm -rf -- $__sa_dir; sleep 0.01', { exitCode: 137, sessionState: 'restarted' }),
      run('pwd', { stdout: '/usr\n' }),
      ALIVE,
    ],
  },
  {
    title: 'names of the shell’s own, unset',
    steps: [run('set -e IFS; set -e fish_history; functions -e fish_prompt'), run('exit 2', { exitCode: 2 }), ALIVE],
  },
];
