import { expect } from 'vitest';

import { conformance } from './harness/runner.js';
import { alone, oneOf, run, runWhile, type Expectation, type Trap } from './harness/table.js';

const RESTARTED = { session_state: 'restarted' as const };
const WEDGE = { ...RESTARTED, takesMs: 6000 };

const page: Trap[] = [
  {
    // Beyond the page: not even the shell ends, so nothing is lost and there is nothing to restore.
    id: 'E1',
    title: 'exit ends the command, not the session',
    steps: [run('cd /; X=1; exit 3', { exit_code: 3 }), run('pwd', { stdout: '/\n' })],
  },
  {
    id: 'E3',
    title: 'set -e',
    restarts: 1,
    steps: [
      run('set -e; false; echo unreachable', { exit_code: 1, ...RESTARTED }),
      run('false; echo reachable', { stdout: 'reachable\n' }),
    ],
  },
  { id: 'E5a', title: 'exec true', restarts: 1, steps: [run('exec true', RESTARTED)] },
  {
    id: 'E5b',
    title: 'exec of a program that stays',
    restarts: 1,
    steps: [
      run(
        (trap) => `exec ${trap.sleep}`,
        {
          ...RESTARTED,
          exit_code: 124,
          status: 'timed_out',
          killed_by: 'timeout',
          takesMs: 4500,
        },
        { timeout_ms: 2000 },
      ),
    ],
  },
  {
    id: 'E5c',
    title: 'exec of another shell',
    restarts: 1,
    steps: [
      run('exec bash --norc', {
        ...WEDGE,
        exit_code: 137,
        status: 'killed',
        killed_by: 'signal',
        stdout: /^/,
        stderr: /^/,
      }),
    ],
  },
  {
    id: 'E7',
    title: 'logout, and end of input at an idle shell',
    steps: [run('logout', { exit_code: 1, stderr: /not login shell/ })],
    run: async (trap) => {
      for (let i = 0; i < 20; i++) {
        const answer = await trap.input('\x04', true);
        expect(answer.error?.code).toBe('NO_RUNNING_COMMAND');
      }
    },
  },
  {
    id: 'E9',
    title: 'what the last completed command left is there after a restart',
    restarts: 1,
    steps: [
      run('cd /usr; export KEPT=yes; f() { echo "f:$1"; }; alias ll="echo aliased"'),
      run('export LOST=1; kill -9 $$', { exit_code: 137, ...RESTARTED }),
      run('pwd; echo $KEPT; f 1; ll', { stdout: '/usr\nyes\nf:1\naliased\n' }),
    ],
  },
];

const exits = (title: string, id: string, command: string, code: number, more: Expectation = {}): Trap => ({
  id,
  title,
  steps: [run(command, { exit_code: code, ...more }), run('echo $?', { stdout: `${code}\n` })],
});

const more: Trap[] = [
  exits('exit without a code', 'E2a', 'false; exit', 1),
  exits('exit 256', 'E2b', 'exit 256', 0),
  exits('exit -1', 'E2c', 'exit -1', 255),
  exits('exit abc', 'E2d', 'exit abc', 2, { stderr: /numeric argument required/ }),
  exits('exit in a function', 'E2e', 'f() { exit 4; }; f; echo no', 4),
  exits('exit in a sourced file', 'E2f', 'echo "exit 5; echo no" >s; . ./s; echo no', 5),
  exits('exit in eval', 'E2g', 'eval "exit 6; echo no"; echo no', 6),
  exits(
    'exit in a loop in a function in a case',
    'E2h',
    'f() { case x in x) while :; do exit 7; done;; esac; }; f; echo no',
    7,
  ),
  exits('exit after output', 'E2i', 'echo out; echo err >&2; exit 8', 8, { stdout: 'out\n', stderr: 'err\n' }),
  {
    id: 'E2j',
    title: 'exit in an INT trap',
    // There is no unwinding out of a trap on INT by another INT: the shell may end, and is replaced.
    restarts: oneOf(0, 1),
    steps: [
      run("trap 'exit 9' INT; kill -INT $$; echo no", { exit_code: 9, session_state: oneOf('alive', 'restarted') }),
      run('echo on', { stdout: 'on\n' }),
    ],
  },
  exits('exit in a USR1 trap', 'E2k', "trap 'exit 9' USR1; kill -USR1 $$; sleep 0.1; echo no", 9),
  exits('exit with INT ignored', 'E2l', "trap '' INT; exit 11; echo no", 11),
  exits('exit of a brace group with a redirection', 'E2m', '{ exit 12; } >/dev/null; echo no', 12),
  {
    id: 'E2n',
    title: 'exit through command',
    restarts: oneOf(0, 1),
    steps: [run('command exit 13; echo no', { exit_code: 13, session_state: oneOf('alive', 'restarted') })],
  },
  exits('exit 0', 'E2o', 'false; exit 0', 0),
  exits('a failed ${x:?}', 'E2p', 'f() { : "${nope:?gone}"; }; f; echo no', 127, { stderr: /nope: gone/ }),
  exits('set -u', 'E2q', 'set -u; echo $nope_xyz; echo no', 127, { stderr: /nope_xyz: unbound variable/ }),
  {
    id: 'E4',
    title: 'exit in subshells, pipelines and substitutions does not end the command',
    steps: [
      run('(exit 3); echo $?', { stdout: '3\n' }),
      run('exit 3 | cat; echo ${PIPESTATUS[0]}', { stdout: '3\n' }),
      run('x=$(echo a; exit 4); echo $x $?', { stdout: 'a 4\n' }),
      run('exit 5 & wait $!; echo $?', { stdout: '5\n' }),
      run('cat <(echo b; exit 6); echo $?', { stdout: 'b\n0\n' }),
    ],
  },
  { id: 'E6', title: 'builtin exit', restarts: 1, steps: [run('builtin exit 6', { exit_code: 6, ...RESTARTED })] },
  {
    id: 'E8',
    title: 'exec of nothing to be found',
    steps: [run('exec doesnotexist_xyz; echo $?', { stdout: '127\n', stderr: /not found/ })],
  },
  ...(['TERM', 'QUIT'] as const).map((signal): Trap => ({
    id: `E10-${signal}`,
    title: `kill -${signal} $$, which an interactive shell ignores`,
    steps: [run(`kill -${signal} $$; echo on`, { stdout: 'on\n' })],
  })),
  ...Object.entries({ HUP: 129, USR1: 138, ABRT: 134, ALRM: 142, SEGV: 139 }).map(([signal, code]): Trap => ({
    id: `E10-${signal}`,
    title: `kill -${signal} $$`,
    restarts: 1,
    steps: [
      run(`echo a; kill -${signal} $$; sleep 1; echo no`, {
        stdout: 'a\n',
        exit_code: code,
        ...RESTARTED,
        stderr: /^/,
      }),
    ],
  })),
  {
    id: 'E12',
    title: 'kill -STOP of the shell',
    restarts: 1,
    steps: [
      run(
        'echo before; kill -STOP $$; echo after',
        {
          stdout: /^before\n/,
          status: 'timed_out',
          killed_by: 'timeout',
          exit_code: 124,
          takesMs: 4500,
          ...RESTARTED,
        },
        { timeout_ms: 1000 },
      ),
    ],
  },
  {
    id: 'E14',
    title: 'recursion without end',
    steps: [
      run('FUNCNEST=500; f() { f; }; f', { exit_code: 1, stderr: /maximum function nesting level exceeded/ }),
      // With 8 MiB of stack bash takes ten seconds until it has used them up.
      run('ulimit -Ss 1024; unset FUNCNEST; f() { f; }; f', {
        exit_code: 139,
        session_state: 'restarted',
        takesMs: 15_000,
        stderr: /^/,
      }),
    ],
    restarts: 1,
  },
  {
    id: 'E16',
    title: 'errexit options of every kind at once',
    restarts: 1,
    steps: [run('set -euo pipefail'), run('echo a | grep b', { exit_code: 1, ...RESTARTED })],
  },
  {
    id: 'E18',
    title: 'exit in a one-shot',
    steps: [
      alone('exit 3', { exit_code: 3 }),
      alone('set -e; false; echo no', { exit_code: 1 }),
      alone('kill -9 $$', { exit_code: 137 }),
      alone('exec sh -c "exit 4"', { exit_code: 4 }),
    ],
  },
  {
    id: 'E20',
    title: 'a signal from outside to the shell while a command runs',
    restarts: 1,
    steps: [
      runWhile(
        'echo $$; sleep 30',
        async (trap) => {
          await trap.output('\n');
          const pid = trap.streamed(trap.commandId).toString().trim();
          await trap.elsewhere(`kill -9 ${pid}`);
        },
        { stdout: /^\d+\n$/, exit_code: 137, ...RESTARTED },
      ),
    ],
  },
];

conformance('E. Ending the shell', [...page, ...more]);
