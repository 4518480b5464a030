import { expect } from 'vitest';

import { conformance } from './harness/runner.js';
import { run, type Trap } from './harness/table.js';
import { TIMED_OUT, timesOut } from './harness/time-out.js';

const BASE64_BYTES = 6_754_388;

const traps: Trap[] = [
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
      const slowestOf = async (goesOn: (done: number) => boolean) => {
        let slowest = 0;
        for (let done = 0; goesOn(done); done += 1) {
          const start = performance.now();
          const answer = await trap.client.run('echo x', other);
          expect(answer.stdout).toBe('x\n');
          slowest = Math.max(slowest, performance.now() - start);
        }
        return slowest;
      };
      const before = await slowestOf((done) => done < 20);
      const endless = trap.run('yes', { timeout_ms: 3000 });
      const over = new AbortController();
      void endless.then(() => {
        over.abort();
      });
      const slowest = await slowestOf(() => !over.signal.aborted);
      const result = await endless;
      expect(result).toMatchObject({ status: 'timed_out', exit_code: 124, session_state: 'alive' });
      expect(result.stdout_bytes).toBeGreaterThan(1_000_000);
      expect(slowest).toBeLessThan(Math.max(1000, before * 20));
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

conformance('H. Time-outs and big output', traps);
