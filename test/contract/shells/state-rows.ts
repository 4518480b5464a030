import { alive, allBut, type Row, run, runWith } from './table.js';

const NO_FUNCTION_LIST = 'it has no way to list its functions';
const RETURN_NEEDS_FUNCTION = 'return belongs in functions and sourced files';
const OUTSIDE_OF_LOOPS = {
  zsh: { stderr: /not in/, exitCode: 1, because: 'it refuses them outside of loops' },
} as const;
const FATAL_CODE = 'its code for errors that end a script is 127';
const OWN_CODE = 'its code for errors in expansions is 2';

/** What lasts from one command to the next, what does not, and what outlives the shell. */
export const STATE_ROWS: readonly Row[] = [
  {
    title: 'directory, variables, functions, aliases, parameters and options last',
    steps: [
      run('mkdir sub && cd sub', { workingDirectory: '/sub' }),
      run('X=1; export Y=2; pwd', { stdout: /\/sub\n$/, workingDirectory: '/sub' }),
      run('f() { echo "f $1 $X"; }; alias hi="echo hello"; set -- a "b c"; umask 027; set -o noglob'),
      run('f 3; hi; echo "$# $2"; umask; echo *; sh -c \'echo "$X-$Y"\'', {
        stdout: /^f 3 1\nhello\n2 b c\n0?0?27\n\*\n-2\n$/,
      }),
      run('cd -', { stdout: /^.*\n$/, workingDirectory: '' }),
    ],
  },
  {
    title: 'an error that ends a script ends the command, and the state stays',
    only: ['bash'],
    steps: [
      run('X=1\nset -u\necho "$undefined_xyz"\necho end', { stderr: /undefined_xyz: unbound/, exitCode: 127 }),
      run('echo "$X$-$undefined_xyz"\necho end', { stderr: /undefined_xyz: unbound/, exitCode: 127 }),
      run('echo "$X"; (exit 3)', { stdout: '1\n', exitCode: 3 }),
      run('set +u; echo "$undefined_xyz."', { stdout: '.\n' }),
      run('echo "${undefined_xyz?need it}"\necho end', { stderr: /undefined_xyz: need it/, exitCode: 127 }),
      run('echo "${!undefined_xyz}"\necho end', { stdout: 'end\n', stderr: /invalid indirect/ }),
      run('alias hi="echo hello" && set -u\nhi', { stdout: 'hello\n' }),
      run('set +u'),
      run('echo a\nset -u\nif', { stdout: 'a\n', stderr: /syntax error/, exitCode: 2 }),
      run('set +u -o posix; readonly R=1\nR=2\necho end', { stderr: /R: readonly/, exitCode: 127 }),
      run('set +o posix; set -eu; cat <<E\n${X?}\nE\nexit 4', { stdout: '1\n', exitCode: 4 }),
    ],
  },
  {
    title: 'exit runs a trap on EXIT that the command has set',
    only: ['bash'],
    steps: [
      run("trap 'echo bye $?' EXIT\nexit 4", { stdout: 'bye 4\n', exitCode: 4 }),
      run("trap -p; trap 'echo old' EXIT"),
      run('exit 5', { exitCode: 5 }),
      run("trap 'echo new; exit 9' EXIT; exit 1", { stdout: 'new\n', exitCode: 9 }),
      run('trap -p', { stdout: "trap -- 'echo old' EXIT\n" }),
      run("trap - EXIT; trap 'exit 42' DEBUG\necho no", { exitCode: 42 }),
      run('trap -p; echo on', { stdout: 'on\n' }),
      run('exit 1 2\necho no', { stderr: /too many arguments/, exitCode: 1 }),
    ],
  },
  {
    title: 'exit runs a trap on EXIT that the command has set, in sh',
    only: ['sh'],
    steps: [
      run("trap 'echo bye $?' EXIT\nexit 4", { stdout: 'bye 4\n', exitCode: 4 }),
      run("trap; trap 'echo old\nit' EXIT"),
      run('exit 5', { exitCode: 5 }),
      run("f() { exit 1; }; trap 'echo new; exit 9' EXIT; f", { stdout: 'new\n', exitCode: 9 }),
      run('trap', { stdout: "trap -- 'echo old\nit' EXIT\n" }),
      run('trap - EXIT; exit 6', { exitCode: 6 }),
    ],
  },
  {
    title: 'break and continue outside of a loop say so, and the command goes on',
    only: ['bash'],
    steps: [
      run('continue\necho "a $?"\nbreak\necho b', { stdout: 'a 0\nb\n', stderr: /continue: only.*\n.*break: only/ }),
      run('for i in 1 2; do break; done; echo $i', { stdout: '1\n' }),
      run('break; declare kept=yes', { stderr: /break: only/ }),
      run('echo $kept', { stdout: 'yes\n' }),
    ],
  },
  {
    title: 'traces have one sign, and the lines of the text',
    only: ['bash'],
    steps: [
      run('set -x; echo a; f() { exit 4; }\necho $LINENO "$(echo b)"\nf', {
        stdout: 'a\n2 b\n',
        stderr: '+ echo a\n++ echo b\n+ echo 2 b\n+ f\n+ exit 4\n',
        exitCode: 4,
      }),
      run('echo "$?"', { stdout: '4\n', stderr: '+ echo 4\n' }),
      runWith({ stdin: 'given' }, 'cat; set +x', { stdout: 'given', stderr: '+ cat\n+ set +x\n' }),
      run("set -x; trap 'echo bye' EXIT; exit 3", {
        stdout: 'bye\n',
        stderr: "+ trap 'echo bye' EXIT\n+ exit 3\n++ echo bye\n",
        exitCode: 3,
      }),
      run('kill -INT $$; echo no', { stderr: /^\+ kill -INT \d+\n$/, exitCode: 130 }),
      run('set +x; echo "$LINENO"; [[ -t 0 ]]', { stdout: '1\n', stderr: '+ set +x\n' }),
    ],
  },
  {
    title: 'OLDPWD is unset at first, and exported by cd',
    only: ['bash'],
    steps: [run('echo "${OLDPWD-unset}"; (cd /; env | grep -c OLDPWD)', { stdout: 'unset\n1\n' })],
  },
  {
    title: 'descriptors from 10 on are the command’s own',
    only: ['bash'],
    steps: [
      run('exec 10>a 12>b 13>c; echo hi >&12; cat b', { stdout: 'hi\n' }),
      run('echo more >&12; exec 10>&- 12>&- 13>&-; cat b', { stdout: 'hi\nmore\n' }),
      run('exec 10>a; exec 11>b; echo again >&11; cat b', { stdout: 'again\n' }),
    ],
  },
  {
    title: 'lists have no names of the driver',
    only: ['bash'],
    steps: [
      run('f() { :; }; v=1; false', { exitCode: 1 }),
      run('echo $?; declare -F; compgen -A function; type -t exit', { stdout: '1\ndeclare -f f\nf\nbuiltin\n' }),
      run('set | grep "_[_]sa_"; declare -p | grep "_[_]sa_"; compgen -v __sa; echo "$v"; w=2', { stdout: '1\n' }),
      run('set -u; declare -F; echo "$undefined_xyz"', {
        stdout: 'declare -f f\n',
        stderr: /undefined_xyz/,
        exitCode: 127,
      }),
      run('set +u; declare -F; kill -INT $$; echo no', { stdout: 'declare -f f\n', exitCode: 130 }),
      run('declare() { echo mine; }; .() { echo mine; }'),
      run('compgen -A function', { stdout: '.\ndeclare\nf\n' }),
      run('unset -f declare .; ! set | grep "_[_]sa_"'),
      run('echo "$v $w"; exit 3', { stdout: '1 2\n', exitCode: 3 }),
    ],
  },
  {
    title: 'lists have no names of the driver, whatever options stay',
    only: ['bash'],
    steps: [
      run('f() { :; }; set -u'),
      run('declare -F; declare -p BASH_EXECUTION_STRING | wc -l; false', { stdout: 'declare -f f\n1\n', exitCode: 1 }),
      run('set +u; set -x; declare -F', { stdout: 'declare -f f\n', stderr: '+ declare -F\n' }),
      run('declare -F; false', { stdout: 'declare -f f\n', stderr: '+ declare -F\n+ false\n', exitCode: 1 }),
      run('type -t exit & wait', { stdout: 'builtin\n', stderr: /^(?:\++ (?:type -t exit|wait)\n){2}$/ }),
      run('set +x; set -v', { stderr: '+ set +x\n' }),
      run('declare -F', { stdout: 'declare -f f\n', stderr: 'declare -F\n' }),
      run('set +v', { stderr: 'set +v\n' }),
      run("trap 'echo debug' DEBUG; set -u", { stdout: 'debug\n' }),
      run('echo hi; trap - DEBUG', { stdout: 'debug\nhi\ndebug\n' }),
      run('alias greet="echo hello"\ngreet', { stdout: 'hello\n' }),
      alive,
    ],
  },
  ...(['sh', 'zsh'] as const).map((shell): Row => ({
    title: `lists have no names of the driver of ${shell}`,
    only: [shell],
    steps: [
      run('v=1; f() { return 3; }; f', { exitCode: 3 }),
      run('echo $?; set | grep -e sa_ -e ^v=; w=2; command -v exit', { stdout: /^3\nv='?1'?\nexit\n$/ }),
      run('set -x; type exit', { stdout: /shell builtin\n$/, stderr: /^\+.*type exit\n$/ }),
      run('set >list; grep -c sa_ list', { stdout: '0\n', stderr: /^\+.*set\n\+.*grep -c sa_ list\n$/, exitCode: 1 }),
      run('set +x', { stderr: /^\+.*set \+x\n$/ }),
      runWith({ env: { K: 'k' }, cwd: '/usr' }, 'set | grep -c sa_; echo "$K$(pwd)"', { stdout: '0\nk/usr\n' }),
      run('set >list; kill -INT $$; echo no', { exitCode: 130 }),
      run('echo "$v $w ${K-none}"; set >list; exit 4', { stdout: '1 2 none\n', exitCode: 4 }),
      alive,
    ],
  })),
  {
    title: 'lists of functions have none of the driver',
    only: ['zsh'],
    steps: [
      run('f() { :; }; typeset -f; whence -w exit f', { stdout: 'f () {\n\t:\n}\nexit: builtin\nf: function\n' }),
      run('print -l ${(k)functions}; typeset -p | grep sa_', { stdout: 'f\n', exitCode: 1 }),
      run('exit 5', { exitCode: 5 }),
      alive,
    ],
  },
  {
    title: 'lastpipe has an effect, and job control comes back',
    only: ['bash'],
    steps: [run('shopt -s lastpipe; echo hi | read x; echo "$x"', { stdout: 'hi\n' }), run('[[ $- == *m* ]]')],
  },
  {
    title: 'a [[ that does not parse ends a text as in bash -c, and the next one is parsed',
    only: ['bash'],
    steps: [
      run('[[ a 3< b ]]\necho no', { stderr: /conditional/ }),
      run('[[ a == a ]] && echo yes', { stdout: 'yes\n' }),
      run('false\n[[ -z ]]', { stderr: /conditional/, exitCode: 1 }),
      run('echo a\nfor i in 1; do\n(exit 4)\ndone\nif true; then\n[[ a b ]]\nfi\n', {
        stdout: 'a\n',
        stderr: /conditional/,
        exitCode: 4,
      }),
      run('eval "[[ ) ]]"', { stderr: /conditional/, exitCode: 2 }),
      run('[[ a == a ]] && echo yes', { stdout: 'yes\n' }),
      run('echo )', { stderr: /syntax error/, exitCode: 2 }),
      alive,
    ],
  },
  {
    title: 'variables declared with typeset are global, arrays too',
    only: allBut('sh'),
    steps: [
      run('typeset -i n=3; typeset -a list; list=(a b c)'),
      run('n=n+1; echo $n ${#list[@]}', { stdout: '4 3\n' }),
    ],
  },
  {
    title: 'variables and directory for one command',
    steps: [
      run('export K=old; L=local'),
      runWith(
        { env: { K: "v'1\n2", L: 'w', M: '' }, cwd: '/usr' },
        'printf "%s|" "$K" "$L" "${M-unset}" "$(pwd)" "$(sh -c \'echo "$K,$L,${M-unset}"\')"; K=changed; cd /',
        { stdout: "v'1\n2|w||/usr|v'1\n2,w,|" },
      ),
      run('echo "$K $L ${M-unset}"; sh -c \'echo "$K ${L-unset}"\'', {
        stdout: 'old local unset\nold unset\n',
        workingDirectory: '',
      }),
      runWith({ env: { PATH: '/nowhere' } }, 'ls', { stderr: /not found|No such file/, exitCode: 127 }),
      run('ls -d /', { stdout: '/\n' }),
    ],
  },
  {
    title: 'variables and directory are put back however the command ends',
    steps: [
      run('K=old'),
      runWith({ env: { K: 'new' }, cwd: '/usr' }, 'exit 4', { exitCode: 4 }),
      run('echo $K', { stdout: 'old\n', workingDirectory: '' }),
      runWith(
        { env: { K: 'new' }, cwd: '/usr' },
        'echo "',
        { stderr: /./, exitCode: 2 },
        {
          zsh: { stderr: /./, exitCode: 1, because: 'its code for syntax errors is 1' },
        },
      ),
      run('echo $K', { stdout: 'old\n', workingDirectory: '' }),
      runWith(
        { env: { K: 'new' }, cwd: '/usr' },
        'set -u; echo $undefined_xyz',
        { stderr: /undefined_xyz/, exitCode: 1 },
        {
          bash: { stderr: /undefined_xyz/, exitCode: 127, because: FATAL_CODE },
          sh: { stderr: /undefined_xyz/, exitCode: 2, because: OWN_CODE },
        },
      ),
      run('set +u; echo $K', { stdout: 'old\n', workingDirectory: '' }),
    ],
  },
  {
    title: 'a command for which its surroundings cannot be had is not run',
    steps: [
      runWith({ cwd: '/no/such/directory' }, 'echo ran', { stderr: /^\/no\/such\/directory: /, exitCode: 126 }),
      run('readonly FIXED=1'),
      runWith(
        { env: { FIXED: '2' } },
        'echo ran',
        { stderr: /FIXED/, exitCode: 1 },
        {
          sh: { stderr: /FIXED/, exitCode: 2, because: OWN_CODE },
        },
      ),
      run('echo $FIXED', { stdout: '1\n', workingDirectory: '' }),
    ],
  },
  {
    title: 'exit ends the command, from any depth, and not the session',
    steps: [
      run('echo $$ >pid; exit 3; echo no', { exitCode: 3 }),
      run('echo $?', { stdout: '3\n' }),
      run('f() { exit 4; echo no; }; f; echo no', { exitCode: 4 }),
      run('echo "exit 5; echo no" >file; . ./file; echo no', { exitCode: 5 }),
      run("eval 'exit 6'; echo no", { exitCode: 6 }),
      run('while true; do for i in 1 2; do exit 7; done; done; echo no', { exitCode: 7 }),
      run('{ exit 8; } >redirected; echo no', { exitCode: 8 }),
      run('false; exit', { exitCode: 1 }),
      run('exit 300', { exitCode: 44 }),
      run('exit 9 && echo no', { exitCode: 9 }),
      run('(exit 5); echo $?; x=$(exit 7); echo $?; exit 6 | cat; echo $?', { stdout: '5\n7\n0\n' }),
      run('test "$(cat pid)" = $$ && echo same', { stdout: 'same\n' }),
    ],
  },
  {
    title: 'exit without a number',
    steps: [
      run(
        'exit word',
        { stderr: /umeric argument|llegal number/, exitCode: 2 },
        {
          zsh: { because: 'the argument is an arithmetic expression' },
        },
      ),
      alive,
    ],
  },
  {
    title: 'break, continue and return outside of what they are for',
    steps: [
      run('break', {}, { ...OUTSIDE_OF_LOOPS, bash: { stderr: /only meaningful/, because: 'it says so' } }),
      run('continue', {}, { ...OUTSIDE_OF_LOOPS, bash: { stderr: /only meaningful/, because: 'it says so' } }),
      run(
        'return 5',
        { exitCode: 5 },
        {
          bash: { stderr: /can only/, exitCode: 2, because: RETURN_NEEDS_FUNCTION },
        },
      ),
      run(
        'for i in 1 2; do continue 5; done; echo end',
        { stdout: 'end\n' },
        {
          bash: { because: 'leaving more loops than there are leaves the driver’s too, and with it the command' },
        },
      ),
      run('while true; do break; done; echo end', { stdout: 'end\n' }),
      alive,
    ],
  },
  {
    title: 'an error in an expansion ends the command',
    steps: [
      run(
        'set -u; echo $undefined_xyz; echo no',
        { stderr: /undefined_xyz/, exitCode: 1 },
        {
          bash: { stderr: /undefined_xyz/, exitCode: 127, because: FATAL_CODE },
          sh: { stderr: /undefined_xyz/, exitCode: 2, because: OWN_CODE },
        },
      ),
      run(
        'echo ${x:?message}; echo no',
        { stderr: /message/, exitCode: 1 },
        {
          bash: { stderr: /message/, exitCode: 127, because: FATAL_CODE },
          sh: { stderr: /message/, exitCode: 2, because: OWN_CODE },
        },
      ),
      alive,
    ],
  },
  {
    title: 'set -e ends the shell; a new one has directory, variables, functions and aliases',
    steps: [
      run('mkdir sub; cd sub; export KEPT="a\nb"; PLAIN=1; f() { echo kept; }; alias hi="echo hi \\"x\ny\\""'),
      run('set -e; false; echo no', { exitCode: 1, sessionState: 'restarted', workingDirectory: '/sub' }),
      run('echo "$KEPT $PLAIN"; hi', { stdout: 'a\nb 1\nhi x\ny\n', workingDirectory: '/sub' }),
      run('f', { stdout: 'kept\n' }, { sh: { stderr: /not found/, exitCode: 127, because: NO_FUNCTION_LIST } }),
    ],
  },
  {
    title: 'set -e does not end the shell for the status of the command before',
    steps: [run('set -e'), run('exit 3', { exitCode: 3 }), run('echo $?; set +e', { stdout: '3\n' })],
  },
  {
    title: 'exec of a program that is not there',
    steps: [
      run(
        'exec no_such_program_xyz; echo on',
        { stderr: /not found/, exitCode: 127, sessionState: 'restarted' },
        {
          bash: { stdout: 'on\n', stderr: /not found/, because: 'the driver sets execfail' },
        },
      ),
      alive,
    ],
  },
  {
    title: 'what replaces or kills the shell is survived',
    steps: [
      run('cd /usr; export KEPT=1'),
      run('exec true', { sessionState: 'restarted' }),
      run('exec sh -c "echo out; exit 3"', { stdout: 'out\n', exitCode: 3, sessionState: 'restarted' }),
      runWith({ stdin: 'in\n' }, 'exec cat', { stdout: 'in\n', sessionState: 'restarted' }),
      run('exec sh -c "sleep 0.3; echo out" </dev/null', { stdout: 'out\n', sessionState: 'restarted' }),
      run('kill -9 $$', { exitCode: 137, sessionState: 'restarted' }),
      run('echo $KEPT; pwd', { stdout: '1\n/usr\n' }),
    ],
  },
];
