import { type Row, run, runWith } from './table.js';

const MEGABYTE = 1_000_000;
const LONG_TEXT = 'y'.repeat(900_000);

/** A command that shows that the session still answers exactly. */
export const ALIVE = run('"alive; $(1 + 1)"', { stdout: 'alive; 2\n' });

const NO_OPTION = 'PowerShell has no such option';
const NO_TRAP = 'PowerShell has no traps but those of errors';

/** Rows of the contract that PowerShell makes impossible, with the reason. */
export const LEFT_OUT: ReadonlyMap<string, string> = new Map([
  ['set -x and set -v show the command’s own lines alone', 'a trace of PowerShell shows the lines of the driver too'],
  ['set -e ends the shell; a new one has directory, variables, functions and aliases', NO_OPTION],
  ['set -e does not end the shell for the status of the command before', NO_OPTION],
  ['set -n', NO_OPTION],
  ['exec of a program that is not there', 'a program does not replace PowerShell'],
  ['functions in the place of what sh keeps for itself', 'they are in the row on functions in the place of builtins'],
  ['traps on DEBUG and ERR see the user’s commands', NO_TRAP],
  ['descriptors closed, duplicated and redirected for good', 'PowerShell has no descriptors'],
  ['options, umask and IFS', NO_OPTION],
  ['exit without a number', 'the argument is an expression, which counts as 0'],
]);

/** The contract of the shells in the language of PowerShell; the titles are those of the other shells. */
export const PWSH_ROWS: readonly Row[] = [
  {
    title: 'stdout and stderr apart, each to the byte',
    steps: [
      run("sh -c 'echo e >&2; echo o'", { stdout: 'o\n', stderr: 'e\n' }),
      run("'o'; Write-Error 'e'", { stdout: 'o\n', stderr: /^Write-Error: e\n*$/, exitCode: 1 }),
      run("/usr/bin/printf 'one\\r\\ntwo\\tthree\\r\\n'", { stdout: 'one\r\ntwo\tthree\r\n' }),
    ],
  },
  {
    title: 'both streams as one, in the order of writing',
    steps: [
      runWith({ isMerged: true }, 'for ($i = 1; $i -le 3; $i++) { sh -c "echo o$i; echo e$i >&2" }', {
        stdout: 'o1\ne1\no2\ne2\no3\ne3\n',
      }),
      runWith({ isMerged: true, args: ['-c', 'echo o; echo e >&2; exit 3'] }, 'sh', { stdout: 'o\ne\n', exitCode: 3 }),
      run("sh -c 'echo e >&2; echo o'", { stdout: 'o\n', stderr: 'e\n' }),
    ],
  },
  { title: 'NUL bytes', steps: [run("/usr/bin/printf 'a\\0b\\n\\0'", { stdout: 'a\0b\n\0' })] },
  { title: 'characters of every length', steps: [run('"aé漢😀āăąŀ"', { stdout: 'aé漢😀āăąŀ\n' })] },
  {
    title: 'a line of a megabyte, on either output',
    steps: [
      run(`sh -c "head -c ${MEGABYTE} /dev/zero | tr '\\0' x"`, { stdout: 'x'.repeat(MEGABYTE) }),
      run(`sh -c "head -c ${MEGABYTE} /dev/zero | tr '\\0' x >&2"`, { stderr: 'x'.repeat(MEGABYTE) }),
    ],
  },
  { title: 'nothing is lost at the end', steps: [run('1..2000 | Select-Object -Last 1', { stdout: '2000\n' })] },
  {
    title: 'what looks like a mark of the driver is output',
    steps: [
      run("/usr/bin/printf 'ready 0 0 /\\0idle 0 0 /\\0'; sh -c 'exit 1'", {
        stdout: 'ready 0 0 /\0idle 0 0 /\0',
        exitCode: 1,
      }),
    ],
  },
  {
    title: 'exit codes',
    steps: [
      run('/bin/true'),
      run('/bin/false', { exitCode: 1 }),
      run('$LASTEXITCODE', { stdout: '1\n' }),
      run("sh -c 'exit 7'", { exitCode: 7 }),
      run('Get-Item /nowhere', { stderr: /nowhere/, exitCode: 1 }),
      run("sh -c 'exit 7'; Get-Item /nowhere", { stderr: /nowhere/, exitCode: 1 }),
      run("Get-Item /nowhere; sh -c 'exit 7'", { stderr: /nowhere/, exitCode: 7 }),
      run("sh -c 'exit 7'; 'ok'", { stdout: 'ok\n' }),
      run("throw 'thrown'", { stderr: /thrown/, exitCode: 1 }),
      run('no_such_program_xyz', { stderr: /not recognized/, exitCode: 1 }),
      run("sh -c 'kill -TERM $$'", { exitCode: 143 }),
      ALIVE,
    ],
  },
  {
    title: 'here-documents, quotes and line ends',
    steps: [
      run("@'\na $b\n  c\n'@", { stdout: 'a $b\n  c\n' }),
      run('@"\n$(1 + 2)\n"@', { stdout: '3\n' }),
      run("'it''s' + ' \"a!b\" !! $x'", { stdout: 'it\'s "a!b" !! $x\n' }),
      run("'a' + `\n 'b'", { stdout: 'ab\n' }),
      run("'a' # comment", { stdout: 'a\n' }),
      run('# nothing but a comment'),
      run(''),
      run('\n\n  \n'),
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
      runWith({ args: ['x'] }, 'Remove-Item', { stderr: /Remove-Item: no such program/, exitCode: 1 }),
    ],
  },
  {
    title: 'long texts',
    steps: [run(`$x = '${LONG_TEXT}'; $x.Length`, { stdout: `${LONG_TEXT.length}\n` }), ALIVE],
  },
  {
    title: 'a syntax error ends the command at once, and nothing else',
    steps: [
      run('"abc', { stderr: /missing the terminator/, exitCode: 1 }),
      run("'no'; if ($true) {", { stderr: /Missing closing '}'/, exitCode: 1 }),
      ALIVE,
    ],
  },
  {
    title: 'a text on stdin',
    steps: [
      runWith({ stdin: 'a\nb' }, 'cat', { stdout: 'a\nb' }),
      runWith({ stdin: 'a\nb\n' }, '[Console]::In.ReadToEnd()', { stdout: 'a\nb\n\n' }),
      runWith({ stdin: '' }, "cat; 'end'", { stdout: 'end\n' }),
    ],
  },
  {
    title: 'a command on the terminal: everything on stdout, and no more than its own',
    steps: [
      runWith({ tty: true }, "sh -c 'test -t 0 && test -t 1 && test -t 2; echo out; echo err >&2; exit 3'", {
        stdout: 'out\r\nerr\r\n',
        exitCode: 3,
      }),
      runWith({ tty: true }, "'abc'", { stdout: 'abc\r\n' }),
      runWith({ tty: true, stdin: 'x\ny' }, 'cat', { stdout: 'x\r\ny' }),
      ALIVE,
    ],
  },
  {
    title: 'directory, variables, functions, aliases, parameters and options last',
    steps: [
      run('$null = New-Item -ItemType Directory sub; cd sub', { workingDirectory: '/sub' }),
      run("$X = 1; $env:Y = 2; function f($a) { \"f $a $X\" }; Set-Alias hi f; $list = 'a', 'b c'"),
      run('f 3; hi 4; $list.Count; sh -c \'echo "$X-$Y"\'', {
        stdout: 'f 3 1\nf 4 1\n2\n-2\n',
        workingDirectory: '/sub',
      }),
      run('cd ..', { workingDirectory: '' }),
    ],
  },
  {
    title: 'variables declared with typeset are global, arrays too',
    steps: [
      run('[int] $n = 3; [string[]] $list = 1, 2'),
      run('$n + 1; $list.GetType().Name', { stdout: '4\nString[]\n' }),
    ],
  },
  {
    title: 'variables and directory for one command',
    steps: [
      run("$env:K = 'old'"),
      runWith(
        { env: { K: "v'1\n2\\", L: 'w' }, cwd: '/usr' },
        'sh -c \'printf "%s|" "$K" "$L" "$PWD"\'; $env:K = "changed"; cd /',
        { stdout: "v'1\n2\\|w|/usr|" },
      ),
      run('sh -c \'echo "$K ${L-unset}"\'', { stdout: 'old unset\n', workingDirectory: '' }),
      runWith({ env: { PATH: '/nowhere' } }, 'ls', { stderr: /not recognized/, exitCode: 1 }),
      run('ls -d /', { stdout: '/\n' }),
    ],
  },
  {
    title: 'variables and directory are put back however the command ends',
    steps: [
      run("$env:K = 'old'"),
      runWith({ env: { K: 'new' }, cwd: '/usr' }, 'exit 4', { exitCode: 4 }),
      run('$env:K', { stdout: 'old\n', workingDirectory: '' }),
      runWith({ env: { K: 'new' }, cwd: '/usr' }, '"', { stderr: /./, exitCode: 1 }),
      runWith({ env: { K: 'new' }, cwd: '/usr' }, 'throw 1', { stderr: /./, exitCode: 1 }),
      run('$env:K', { stdout: 'old\n', workingDirectory: '' }),
    ],
  },
  {
    title: 'a command for which its surroundings cannot be had is not run',
    steps: [
      runWith({ cwd: '/no/such/directory' }, "'ran'", { stderr: /^\/no\/such\/directory: /, exitCode: 126 }),
      ALIVE,
    ],
  },
  {
    title: 'exit ends the command, from any depth, and not the session',
    steps: [
      run("Set-Content -Path pid -Value $PID; exit 3; 'no'", { exitCode: 3 }),
      run('$LASTEXITCODE', { stdout: '3\n' }),
      run("function f { exit 4; 'no' }; f; 'no'", { exitCode: 4 }),
      run("while ($true) { foreach ($i in 1, 2) { exit 7 } }; 'no'", { exitCode: 7 }),
      run('exit 300', { exitCode: 44 }),
      run('exit'),
      run("if ((Get-Content pid) -eq $PID) { 'same' }", { stdout: 'same\n' }),
    ],
  },
  {
    title: 'break, continue and return outside of what they are for',
    steps: [run('break'), run('continue'), run("return 5; 'no'", { stdout: '5\n' }), ALIVE],
  },
  {
    title: 'an error in an expansion ends the command',
    steps: [
      run("Set-StrictMode -Version Latest; $ErrorActionPreference = 'Stop'; $undefined_xyz; 'no'", {
        stderr: /undefined_xyz/,
        exitCode: 1,
      }),
      run("Set-StrictMode -Off; $ErrorActionPreference = 'Continue'"),
      ALIVE,
    ],
  },
  {
    title: 'what replaces or kills the shell is survived',
    steps: [
      run("cd /usr; $env:KEPT = \"a b`n'\"; $plain = 1.5; $map = @{ a = 1 }; function f { 'kept' }; Set-Alias hi f"),
      run('kill -9 $PID', { exitCode: 137, sessionState: 'restarted' }),
      run('"$env:KEPT|$plain|$($map.a)|$PWD"; f; hi', { stdout: "a b\n'|1.5|1|/usr\nkept\nkept\n" }),
    ],
  },
  {
    title: 'functions in the place of builtins',
    steps: [
      run("function Write-Output { 'W' }; function Set-Location { 'S' }; function Get-Command { throw 1 }"),
      run('exit 5', { exitCode: 5 }),
      ALIVE,
    ],
  },
  {
    title: 'aliases over every word of the driver',
    steps: [run('Set-Alias Out-String Get-Date; Set-Alias Set-Variable Get-Date; Set-Alias foreach Get-Date'), ALIVE],
  },
  {
    title: 'readonly variables',
    steps: [run('Set-Variable R 1 -Option ReadOnly; $R = 2', { stderr: /R/, exitCode: 1 }), ALIVE],
  },
  {
    title: 'no PATH',
    steps: [
      run('$env:PATH = "/nowhere"'),
      run('ls', { stderr: /./, exitCode: 1 }),
      run('$env:PATH = "/usr/bin:/bin"'),
      ALIVE,
    ],
  },
  {
    title: 'a directory that is removed',
    steps: [
      run('$null = mkdir gone; cd gone; rmdir ../gone', { workingDirectory: '/gone' }),
      run("'a'", { stdout: 'a\n', workingDirectory: '/gone' }),
      run('cd ..', { workingDirectory: '' }),
    ],
  },
  {
    title: 'a directory of an odd name, also for the shell that follows',
    steps: [
      run('$d = "a\'b`nc`"d \\ `$e"; $null = New-Item -ItemType Directory $d; cd -LiteralPath $d', {
        workingDirectory: '/a\'b\nc"d \\ $e',
      }),
      run('kill -9 $PID', { exitCode: 137, sessionState: 'restarted', workingDirectory: '/a\'b\nc"d \\ $e' }),
    ],
  },
  {
    title: 'the driver’s own files, removed',
    isPrevented: true,
    steps: [
      run("$env:KEPT = 1; cd /usr; Remove-Item -Recurse -Force $__sa.Dir; 'gone'", {
        stdout: /^(gone\n)?$/,
        exitCode: 71,
        sessionState: 'restarted',
      }),
      ALIVE,
    ],
  },
  {
    title: 'names of the shell’s own, unset',
    steps: [
      run('Remove-Variable __sa -Force', { stderr: /__sa/, exitCode: 1 }),
      run('Remove-Item -Force function:Out-Default; exit 2', { exitCode: 2 }),
      ALIVE,
    ],
  },
];
