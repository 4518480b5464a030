import { setTimeout as sleep } from 'node:timers/promises';

import { timeInTurn } from '../measure.mjs';
import { startDaemon } from '../targets.mjs';

/** The floor is the daemon itself, without a sandbox. */
const row = (name, target, pauseMs, work) => ({
  name,
  target,
  settings: 'sandbox:\n  profile: workspace\n  require: true\n',
  startFloor: () => startDaemon(),
  run: ({ floor, daemon, short }) =>
    timeInTurn(
      short ? 2 : 8,
      short ? 5 : 25,
      () => work(floor),
      () => work(daemon),
      () => sleep(pauseMs),
    ),
});

/** A sandbox that was made ahead is there each time. */
export const sandboxedOneShot = row('one-shot echo, sandboxed', 1.5, 50, (daemon) =>
  daemon.request('execute_command', { command: 'echo hello' }),
);

/** From opening a session to closing it, with a command between. */
export const sandboxedSession = row('session and echo, sandboxed', 1.5, 50, async (daemon) => {
  const { session_id } = await daemon.request('open_session');
  await daemon.request('execute_command', { command: 'echo hello', session_id });
  await daemon.request('close_session', { session_id });
});
