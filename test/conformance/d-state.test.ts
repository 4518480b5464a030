import { expect } from 'vitest';

import { conformance } from './harness/runner.js';
import { alone, run, type Trap } from './harness/table.js';

const page: Trap[] = [
  {
    id: 'D1',
    title: 'the directory stays and is told',
    steps: [
      run('cd /tmp && pwd', { stdout: '/tmp\n', working_directory: '/tmp' }),
      run('pwd', { stdout: '/tmp\n', working_directory: '/tmp' }),
    ],
  },
  {
    id: 'D5',
    title: 'a directory and variables for one command only',
    steps: [
      run('export Q=old; W=plain; cd /'),
      run(
        'echo $K $Q $W; pwd',
        { stdout: 'v new w\n/usr\n', working_directory: '/' },
        {
          env: { K: 'v', Q: 'new', W: 'w' },
          cwd: '/usr',
        },
      ),
      run('echo ${K-unset} $Q $W; pwd; env | grep -c "^[KW]="', { stdout: 'unset old plain\n/\n0\n', exit_code: 1 }),
      run('echo no', { error: 'INVALID_REQUEST' }, { env: { '1BAD': 'x' } }),
      run('echo no', { error: 'INVALID_REQUEST' }, { env: { 'A B': 'x' } }),
      run('echo no', { error: 'INVALID_REQUEST' }, { env: { '': 'x' } }),
      run('echo no', { error: 'BAD_DIRECTORY' }, { cwd: '/nonexistent_xyz' }),
    ],
  },
  {
    id: 'D7',
    title: 'functions named as builtins',
    steps: [
      run('printf(){ echo hacked; }; echo(){ builtin echo E:"$@"; }'),
      run('echo hi', { stdout: 'E:hi\n' }),
      run('printf x', { stdout: 'E:hacked\n' }),
      run('unset -f echo printf'),
    ],
  },
  {
    id: 'D9',
    title: 'aliases of builtins',
    steps: [
      run('alias read=false printf=false .=false', { stderr: /^/, exit_code: 0 }),
      run('echo hi', { stdout: 'hi\n' }),
    ],
  },
  {
    id: 'D11',
    title: 'no PATH',
    steps: [
      run('PATH='),
      run('ls', { exit_code: 127, stderr: /ls: No such file or directory\n$/ }),
      run('PATH=/usr/bin:/bin'),
      run('ls', {}),
    ],
  },
  {
    id: 'D13',
    title: 'readonly variables of other drivers',
    steps: [
      run('readonly log=1 EXIT_CODE=5 _ec=5 REPLY=1 OPTIND=1'),
      run('true'),
      run('echo $log$_ec', { stdout: '15\n' }),
    ],
  },
  {
    id: 'D15a',
    title: 'set -v',
    steps: [
      run('set -v', { stderr: /^/ }),
      run('echo x', { stdout: 'x\n', stderr: /^(echo x\n)?$/ }),
      run('set +v', { stderr: /^/ }),
    ],
  },
  {
    id: 'D15b',
    title: 'a DEBUG trap',
    steps: [
      run("trap 'echo DBG' DEBUG"),
      run('true', { stdout: 'DBG\n' }),
      run('echo x', { stdout: 'DBG\nx\n' }),
      run('trap - DEBUG', { stdout: /^(DBG\n)?$/ }),
    ],
  },
  {
    id: 'D15c',
    title: 'an ERR trap',
    steps: [
      run("trap 'echo E' ERR; false", { stdout: 'E\n', exit_code: 1 }),
      run('true'),
      run('false', { stdout: 'E\n', exit_code: 1 }),
      run('trap - ERR'),
    ],
  },
  {
    id: 'D15d',
    title: 'extdebug',
    steps: [run('shopt -s extdebug'), run('echo x', { stdout: 'x\n' }), run('shopt -u extdebug')],
  },
  {
    id: 'D15e',
    title: 'set -x shows the user’s lines only',
    steps: [
      run('set -x', {}),
      run('echo a', { stdout: 'a\n', stderr: /^\++ echo a\n$/ }),
      run('true; echo b', { stdout: 'b\n', stderr: /^\++ true\n\++ echo b\n$/ }),
      run('set +x', { stderr: /^\++ set \+x\n$/ }),
      run('echo c', { stdout: 'c\n' }),
    ],
  },
  {
    id: 'D17',
    title: 'options that change the language',
    steps: [
      run('set -C'),
      run('echo a', { stdout: 'a\n' }),
      run('echo b >x; echo c >x', { exit_code: 1, stderr: /cannot overwrite existing file/ }),
      run('set +C; set -o posix'),
      run('echo d; echo $?', { stdout: 'd\n0\n' }),
      run('set +o posix; set -f'),
      run('echo *', { stdout: '*\n' }),
      run('set +f; set -k'),
      run('echo e', { stdout: 'e\n' }),
      run('set +k; LC_ALL=C'),
      run('echo é', { stdout: 'é\n' }),
      run('x=é; echo ${#x}; unset LC_ALL', { stdout: '2\n' }),
    ],
  },
  {
    id: 'D19',
    title: 'closed and moved standard descriptors',
    steps: [
      run('exec >&- 2>&-; echo z', { exit_code: 1 }),
      run('echo w', { stdout: 'w\n' }),
      run('exec 3>&1 4>&2; exec > >(tee /dev/null) 2>&1; echo q; exec 1>&3 2>&4', {
        stdout: /^(q\n)?$/,
        background: [],
      }),
      run('echo r', { stdout: 'r\n' }),
      run('exec 3>&- 4>&-'),
    ],
  },
  {
    id: 'D21',
    title: 'a directory that is gone',
    steps: [
      run('mkdir d && cd d && rmdir ../d'),
      run('pwd; ls', { stdout: /\/d\n$/, working_directory: /\/d$/ }),
      run('echo on', { stdout: 'on\n' }),
      run('cd ..', { stderr: /^/ }),
    ],
  },
  {
    id: 'D21b',
    title: 'a session in a directory that is not there',
    run: async ({ client }) => {
      const answer = await client.request('open_session', { cwd: '/nonexistent_xyz' });
      expect(answer.error?.code).toBe('BAD_DIRECTORY');
    },
  },
  { id: 'D23', title: 'umask 777', steps: [run('umask 777'), run('echo u', { stdout: 'u\n' }), run('umask 022')] },
  {
    id: 'D25',
    title: 'an EXIT trap is the user’s and runs at close',
    steps: [
      run((trap) => `trap 'echo bye >${trap.directory}/bye' EXIT`),
      run('trap -p EXIT', { stdout: /^trap -- 'echo bye >.*' EXIT\n$/ }),
    ],
    isClosed: true,
    run: async (trap) => {
      await trap.close();
      expect(await trap.elsewhere(`cat ${trap.directory}/bye`)).toBe('bye\n');
    },
  },
  {
    id: 'D27',
    title: 'an environment of 1 MB',
    steps: [
      run('long=$(printf %05000d 0); for i in {1..600}; do export "V$i=$long"; done; unset long'),
      run('env | wc -c', { exit_code: 126, stdout: /^/, stderr: /Argument list too long/ }),
      run('for i in {1..600}; do unset "V$i"; done'),
      run('env | wc -l', { stdout: /^\d+\n$/ }),
    ],
  },
];

conformance('D. State: the page', page);

const isolated: Trap[] = [
  {
    id: 'D29',
    title: 'one-shots share nothing',
    steps: [
      alone('export LEAK=1; cd /; alias l=ls; f() { :; }; umask 077; set -e'),
      alone('echo ${LEAK-none}; alias; declare -F; umask; echo $-', { stdout: /^none\n0022\n\w*\n$/ }),
    ],
  },
];
conformance('D. State: one-shots', isolated);
