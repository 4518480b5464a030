import { conformance } from './harness/runner.js';
import { alone, oneOf, run, type Trap } from './harness/table.js';
import { TIMED_OUT, timesOut } from './harness/time-out.js';

const traps: Trap[] = [
  timesOut('H2a', 'ignored signals', ({ sleep }) => `bash -c "trap '' INT TERM HUP; ${sleep}; ${sleep}"`),
  timesOut('H2b', 'setsid', ({ sleep }) => `setsid -w ${sleep}`),
  timesOut('H2c', 'a double fork', ({ sleep }) => `(setsid ${sleep} >/dev/null 2>&1 &); ${sleep}`),
  timesOut('H2d', 'an endless loop of the shell', () => 'while :; do :; done'),
  timesOut(
    'H2e',
    'a loop that ignores signals in the shell itself',
    () => "trap '' INT TERM; while :; do sleep 0.1; done",
    {
      session_state: oneOf('alive', 'restarted', null),
    },
  ),
  timesOut('H2f', 'output that holds its pipe', ({ sleep }) => `(${sleep}) & ${sleep} | tee x`),
  timesOut('H2g', 'a read from a FIFO that nobody opens', () => 'mkfifo q$$; cat q$$', {}),
  timesOut('H2h', 'a redirection from a FIFO in the shell itself', () => 'mkfifo p$$; : <p$$'),
  timesOut('H2i', 'a stopped program', ({ sleep }) => `bash -c '${sleep} & kill -STOP $!; wait'`),
  timesOut('H2j', 'a pipeline with a builtin', ({ sleep }) => `${sleep} | while read -r x; do echo $x; done`),
  {
    id: 'H4',
    title: 'a time-out of 1 ms',
    steps: [
      run(({ sleep }) => sleep, TIMED_OUT, { timeout_ms: 1 }),
      alone(({ sleep }) => sleep, TIMED_OUT, { timeout_ms: 1 }),
    ],
  },
  {
    id: 'H6',
    title: 'time-outs that are none',
    steps: [...[0, -1, 1.5, 2 ** 31].map((timeout_ms) => run('true', { error: 'INVALID_REQUEST' }, { timeout_ms }))],
  },
  {
    id: 'H8',
    title: 'limits of the shell’s own',
    restarts: oneOf(0, 1, 2),
    // Commands may come before the pause in which the state is saved.
    probe: (word) => run(`echo ${word}`, { stdout: `${word}\n`, session_state: oneOf('alive', 'restarted') }),
    steps: [
      run('(ulimit -f 0; echo x >f); echo $?', { stdout: /^\d+\n$/, stderr: /^/ }),
      run('(ulimit -n 5; ls >/dev/null); true', { stderr: /^/ }),
      // Bash says on its standard error that it cannot move its descriptors; the shell is replaced.
      run('ulimit -n 5', {
        takesMs: 6000,
        stderr: /^(bash: .*descriptor\n)*$/,
        session_state: oneOf('alive', 'restarted'),
        exit_code: oneOf(0, 137),
        status: oneOf('completed', 'killed'),
        killed_by: oneOf(null, 'signal'),
      }),
      // Or it is replaced in the pause after the command, when it cannot save its state.
      run('true', { takesMs: 6000, stderr: /^/, session_state: oneOf('alive', 'restarted'), exit_code: oneOf(0, 137) }),
      run('echo after', { stdout: 'after\n', takesMs: 6000, session_state: oneOf('alive', 'restarted') }),
      run('ulimit -f 0', {
        takesMs: 6000,
        session_state: oneOf('alive', 'restarted'),
        exit_code: oneOf(0, 137, 153),
        status: oneOf('completed', 'killed'),
        killed_by: oneOf(null, 'signal'),
      }),
      run('echo after', { stdout: 'after\n', takesMs: 6000, session_state: oneOf('alive', 'restarted') }),
    ],
  },
];

conformance('H. More time-outs', traps);
