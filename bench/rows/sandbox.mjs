import { setTimeout as sleep } from 'node:timers/promises';

import { inRounds } from '../measure.mjs';

/** The floor is the daemon itself, without a sandbox. */
const row = (name, target, pauseMs, work) => ({
  name,
  target,
  sections: 'sandbox:\n  profile: workspace\n  require: true\n',
  startFloor: 'daemon',
  run: ({ floor, daemon, short }) =>
    inRounds({
      rounds: short ? 2 : 12,
      runs: short ? 5 : 15,
      floor: () => work(floor),
      ours: () => work(daemon),
      pause: () => sleep(pauseMs),
    }),
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
