import type { TrapContext } from './context.js';
import { alone, type Expectation, oneOf, run, type Trap } from './table.js';

/** What a command gives that is ended at its time-out. */
export const TIMED_OUT: Expectation = { exit_code: 124, status: 'timed_out', killed_by: 'timeout', takesMs: 3500 };

/** A row in which a command is ended at 1 s, in a session and without one: the whole tree dead, the same shell at work. */
export const timesOut = (
  id: string,
  title: string,
  command: (trap: TrapContext) => string,
  more: Expectation = {},
): Trap => ({
  id,
  restarts: more.session_state === undefined ? 0 : oneOf(0, 1),
  title: `time-out: ${title}`,
  steps: [
    run(command, { ...TIMED_OUT, ...more }, { timeout_ms: 1000 }),
    run('echo ok', { stdout: 'ok\n' }),
    alone(command, { ...TIMED_OUT, ...more }, { timeout_ms: 1000 }),
  ],
});
