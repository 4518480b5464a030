import { setTimeout as sleep } from 'node:timers/promises';

import { inRounds } from '../measure.mjs';

const row = (name, target, pause) => ({
  name,
  target,
  run: ({ floor, daemon, short }) =>
    inRounds({
      rounds: short ? 2 : 24,
      runs: short ? 10 : 30,
      warmUp: short ? 10 : 100,
      floor: () => floor.request('spawn', { command: 'echo hello' }),
      ours: () => daemon.request('execute_command', { command: 'echo hello' }),
      pause,
    }),
});

/** As an agent sends them: a shell that was started ahead is there each time. */
export const oneShot = row('one-shot echo', 0.55, () => sleep(10));

/** Faster than shells can be started: then what one costs in all is what counts, not when it is paid. */
export const oneShotRush = row('one-shot echo, in a rush', 1, undefined);
