import { expect } from 'vitest';

import { conformance } from './harness/runner.js';
import { alone, oneOf, run, type Expectation, type Trap } from './harness/table.js';
import type { TrapContext } from './harness/context.js';

const TIMED_OUT: Expectation = { exit_code: 124, status: 'timed_out', killed_by: 'timeout', takesMs: 3500 };
const BASE64_BYTES = 6_754_388;

/** At 1 s, the whole tree dead, the same shell at work. */
const timesOut = (id: string, title: string, command: (trap: TrapContext) => string, more: Expectation = {}): Trap => ({
  id,
  restarts: more.session_state === undefined ? 0 : oneOf(0, 1),
  title: `time-out: ${title}`,
  steps: [
    run(command, { ...TIMED_OUT, ...more }, { timeout_ms: 1000 }),
    run('echo ok', { stdout: 'ok\n' }),
    alone(command, { ...TIMED_OUT, ...more }, { timeout_ms: 1000 }),
  ],
});

const page: Trap[] = [
  timesOut('H1', 'partial output comes', ({ sleep }) => `echo partial; echo e >&2; ${sleep}`, {
    stdout: 'partial\n',
    stderr: 'e\n',
  }),
  timesOut('H3a', 'a job and wait', ({ sleep }) => `${sleep} & wait`),
  timesOut('H3b', 'a child of a shell', ({ sleep }) => `bash -c '${sleep}; true'`),
  timesOut('H3c', 'a pipeline in a shell', ({ sleep }) => `sh -c '${sleep} | cat'`),
  {
    id: 'H5',
    title: 'the no-output time-out',
    steps: [
      run(
        'for i in 1 2 3 4 5; do echo $i; sleep 1; done',
        { stdout: '1\n2\n3\n4\n5\n', takesMs: 5000 },
        { no_output_timeout_ms: 2000 },
      ),
      run('echo a; sleep 30', { ...TIMED_OUT, stdout: 'a\n', takesMs: 4500 }, { no_output_timeout_ms: 2000 }),
    ],
  },
  {
    // Instead of SESSION_BUSY the command waits its turn; that answer is for a full queue (`queue_limit`).
    id: 'H7',
    title: 'a command waits while another runs, and never reaches its input',
    run: async (trap) => {
      const first = trap.run('read -t 1 x; echo "first:$x"', { timeout_ms: 5000 });
      const second = trap.run('echo second');
      expect((await first).stdout).toBe('first:\n');
      expect((await second).stdout).toBe('second\n');
    },
  },
  {
    id: 'H9',
    title: 'five megabytes of base64',
    steps: [
      run('head -c 5000000 /dev/urandom >r; base64 r >b; base64 r', {
        stdout: /./,
        stdout_bytes: BASE64_BYTES,
        takesMs: 1000,
        check: async ({ command_id, stdout }, trap) => {
          const whole = (await trap.wholeOutput(command_id)).toString();
          expect(whole.length).toBe(BASE64_BYTES);
          expect(stdout.slice(0, 1000)).toBe(whole.slice(0, 1000));
          expect(stdout.slice(-1000)).toBe(whole.slice(-1000));
          const sums = await trap.run('md5sum <b');
          const { createHash } = await import('node:crypto');
          expect(sums.stdout.slice(0, 32)).toBe(createHash('md5').update(whole).digest('hex'));
        },
      }),
    ],
  },
  {
    id: 'H11',
    title: 'endless output; other sessions do not notice',
    steps: [run('true')],
    run: async (trap) => {
      const other = await trap.client.openSession();
      const endless = trap.run('yes', { timeout_ms: 3000 });
      let slowest = 0;
      const over = new AbortController();
      void endless.then(() => {
        over.abort();
      });
      while (!over.signal.aborted) {
        const start = performance.now();
        const answer = await trap.client.run('echo x', other);
        expect(answer.stdout).toBe('x\n');
        slowest = Math.max(slowest, performance.now() - start);
      }
      const result = await endless;
      expect(result).toMatchObject({ status: 'timed_out', exit_code: 124, session_state: 'alive' });
      expect(result.stdout_bytes).toBeGreaterThan(1_000_000);
      expect(slowest).toBeLessThan(1000);
      await trap.client.request('close_session', { session_id: other });
    },
  },
  {
    id: 'H13',
    title: 'one long line hides no other',
    steps: [
      run("echo first; head -c 100000 /dev/zero | tr '\\0' x; echo; echo last", {
        stdout: /^first\nx{100000}\nlast\n$/,
      }),
    ],
  },
  {
    id: 'H17',
    title: 'a progress bar, raw and collapsed',
    steps: [
      run(String.raw`for i in $(seq 100); do printf "\r%3d%%" $i; done; echo`, {
        stdout: /^\r {2}1%\r {2}2%[^\n]*\r100%\n$/,
      }),
      run(
        String.raw`for i in $(seq 100); do printf "\r%3d%%" $i; done; echo`,
        { stdout: '100%\n', check: () => undefined, stdout_bytes: 501 },
        {
          output: { collapse_cr: true, max_size: 100_000 },
        },
      ),
    ],
  },
];

const more: Trap[] = [
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

conformance('H. Time-outs and big output', [...page, ...more]);
