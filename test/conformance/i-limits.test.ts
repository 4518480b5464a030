import { expect } from 'vitest';

import type { TrapContext } from './harness/context.js';
import { conformance } from './harness/runner.js';
import { alone, type Expectation, run, type Trap } from './harness/table.js';

const MB = 1024 * 1024;
/** How long a look, the kill and a new prompt may take on a busy machine. */
const KILL_MS = 3000;

/** Ended for a limit; the shell goes on. */
const killedBy = (reason: 'memory' | 'cpu', more: Expectation = {}): Expectation => ({
  exit_code: 137,
  status: 'killed',
  killed_by: reason,
  // Shells may say that a child was killed.
  stderr: /^/,
  takesMs: KILL_MS,
  ...more,
});

const hog = ({ mark }: TrapContext) =>
  `python3 -c 'import time; a = bytearray(800 * 2**20); time.sleep(30)' sleep.${mark}`;
const busy = 'while :; do :; done';

const traps: Trap[] = [
  {
    id: 'I1',
    title: 'memory: killed, with what was held; other sessions do not notice',
    session: { limits: { memory_mb: 256 } },
    steps: [
      run(
        hog,
        killedBy('memory', {
          check: ({ limit, resource_usage: use }) => {
            expect(limit).toMatchObject({ resource: 'memory_mb', limit: 256 });
            expect(use.peak_memory_bytes).toBeGreaterThan(200 * MB);
          },
        }),
      ),
      run('echo ok', { stdout: 'ok\n' }),
      alone(hog, killedBy('memory'), { limits: { memory_mb: 256 } }),
    ],
  },
  {
    id: 'I3',
    title: 'CPU time: an endless loop is killed, a sleep is not',
    session: { limits: { cpu_seconds: 1 } },
    steps: [
      run(`bash -c '${busy}'`, killedBy('cpu', { takesMs: KILL_MS + 3000 })),
      run('sleep 2', { takesMs: 2000 }),
      run('echo ok', { stdout: 'ok\n' }),
    ],
  },
  {
    id: 'I3a',
    title: 'CPU share: a burst shorter than the window goes on, an endless loop does not',
    daemon: { settings: { adapter: { cpu_window: 1 } } },
    session: { limits: { cpu_percent: 20 } },
    steps: [
      run(`timeout 0.1 bash -c '${busy}'; sleep 1.5`, { takesMs: 2000 }),
      run(`bash -c '${busy}'`, killedBy('cpu', { takesMs: KILL_MS + 3000 })),
      run('echo ok', { stdout: 'ok\n' }),
    ],
  },
  {
    id: 'I7',
    title: 'as many sessions as may be: one more is refused, one closed frees its place',
    // The row's own session and the witness.
    daemon: { settings: { adapter: { max_sessions: 3 } } },
    run: async ({ client }) => {
      const session_id = await client.openSession();
      expect((await client.request('open_session', {})).error).toMatchObject({ code: 'SESSION_LIMIT' });
      await client.request('close_session', { session_id });
      await client.request('close_session', { session_id: await client.openSession() });
    },
  },
];

conformance('I. Limits', traps);
