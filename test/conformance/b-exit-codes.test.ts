import { conformance } from './harness/runner.js';
import { alone, run, type Trap } from './harness/table.js';

const page: Trap[] = [
  {
    id: 'B1',
    title: 'plain exit codes',
    steps: [
      run('false', { exit_code: 1 }),
      run('(exit 7)', { exit_code: 7 }),
      run('doesnotexist_xyz', { exit_code: 127, stderr: /doesnotexist_xyz: command not found\n$/ }),
      run('/etc/passwd', { exit_code: 126, stderr: /\/etc\/passwd: Permission denied\n$/ }),
    ],
  },
  {
    id: 'B3',
    title: 'pipelines and pipefail',
    steps: [
      run('false | true'),
      run('set -o pipefail; false | true', { exit_code: 1 }),
      run('false | true', { exit_code: 1 }),
      run('set +o pipefail'),
      run('false | true'),
    ],
  },
  {
    id: 'B5',
    title: 'programs ended by signals, in a session and alone',
    steps: [run, alone].flatMap((how) => [
      how("bash -c 'kill -TERM $$'", { exit_code: 143, stderr: /^/ }),
      how("bash -c 'kill -SEGV $$'", { exit_code: 139, stderr: /^/ }),
    ]),
  },
  {
    id: 'B5b',
    title: 'a one-shot program ended by a signal',
    steps: [
      alone('bash', { exit_code: 143 }, { args: ['-c', 'kill -TERM $$'] }),
      alone('bash', { exit_code: 139 }, { args: ['-c', 'kill -SEGV $$'] }),
      alone('bash', { exit_code: 137 }, { args: ['-c', 'kill -KILL $$'] }),
    ],
  },
  { id: 'B7', title: 'wait gives a job’s code', steps: [run('(exit 5)& wait $!', { exit_code: 5 })] },
];

const more: Trap[] = [
  {
    id: 'B2',
    title: '$? goes from one command to the next',
    steps: [
      run('(exit 42)', { exit_code: 42 }),
      run('echo $?', { stdout: '42\n' }),
      run('echo $?', { stdout: '0\n' }),
      run('false | true | (exit 3)', { exit_code: 3 }),
      run('echo $? $_', { stdout: /^3 / }),
    ],
  },
  {
    id: 'B4',
    title: 'codes at the edges',
    steps: [
      run('(exit 255)', { exit_code: 255 }),
      run('(exit 256)', { exit_code: 0 }),
      run('(exit -1)', { exit_code: 255 }),
      run('(exit abc)', { exit_code: 2, stderr: /exit: abc: numeric argument required\n$/ }),
      run('! true', { exit_code: 1 }),
      run('! false'),
    ],
  },
  {
    id: 'B6',
    title: 'errors of the shell’s own',
    steps: [
      run('echo $((1/0))', { exit_code: 1, stderr: /division by 0/ }),
      run('let 0', { exit_code: 1 }),
      run('[ 1 -eq a ]', { exit_code: 2, stderr: /integer expression expected\n$/ }),
      run('cd /nonexistent_xyz', { exit_code: 1, stderr: /No such file or directory\n$/ }),
      run('/', { exit_code: 126, stderr: /Is a directory\n$/ }),
      run('wait 99999999', { exit_code: 127, stderr: /not a child of this shell\n$/ }),
      run('command -v doesnotexist_xyz', { exit_code: 1 }),
      run('. ./nonexistent_xyz', { exit_code: 1, stderr: /No such file or directory\n$/ }),
      run('readonly R=1; R=2', { exit_code: 1, stderr: /R: readonly variable\n$/ }),
    ],
  },
  {
    // Bash 5.2 says "required file not found"; older versions say "bad interpreter", with code 126.
    id: 'B8',
    title: 'scripts that cannot be run',
    steps: [
      run(String.raw`printf '#!/nonexistent/interpreter\n' >bad; chmod +x bad; ./bad`, {
        exit_code: 127,
        stderr: /cannot execute: required file not found\n$/,
      }),
      run(String.raw`printf 'exit 9\n' >plain; chmod +x plain; ./plain`, { exit_code: 9 }),
      run(String.raw`printf '\0\0\0\0' >binary; chmod +x binary; ./binary`, {
        exit_code: 126,
        stderr: /cannot execute binary file: Exec format error\n$/,
      }),
      // Ordinary users may not search /root.
      alone(
        'doesnotexist_xyz',
        { exit_code: 127, stderr: 'doesnotexist_xyz: command not found\n' },
        { args: [], env: { PATH: '/root:/usr/bin:/bin' } },
      ),
    ],
  },
  {
    id: 'B10',
    title: 'a broken pipe is silent',
    steps: [
      run('yes | head -1', { stdout: 'y\n' }),
      run('set -o pipefail; yes | head -1', { stdout: 'y\n', exit_code: 141 }),
      run('yes | head -1; echo ${PIPESTATUS[@]}; set +o pipefail', { stdout: 'y\n141 0\n' }),
    ],
  },
  {
    id: 'B12',
    title: 'timeout(1) and its signals',
    steps: [
      run('timeout 0.2 sleep 30', { exit_code: 124, takesMs: 200 }),
      run('timeout -s KILL 0.2 sleep 30', { exit_code: 137, stderr: /^/, takesMs: 200 }),
      run('timeout 0.2 cat', { exit_code: 124, takesMs: 200 }),
    ],
  },
  {
    id: 'B14',
    title: 'return outside of a function',
    steps: [run('return 5', { exit_code: 2, stderr: /return/ })],
  },
  {
    id: 'B16',
    title: 'subshells killed by themselves',
    steps: [
      run('(kill -KILL $BASHPID)', { exit_code: 137, stderr: /^/ }),
      run('(kill -TERM $BASHPID); echo $?', { stdout: '143\n', stderr: /^/ }),
      run('sh -c "kill -PIPE \\$\\$"', { exit_code: 141 }),
    ],
  },
];

conformance('B. Exit codes', [...page, ...more]);
