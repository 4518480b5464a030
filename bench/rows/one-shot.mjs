import { setTimeout as sleep } from 'node:timers/promises';

import { timeInTurn } from '../measure.mjs';

const row = (name, target, pause) => ({
  name,
  target,
  run: ({ floor, daemon, short }) =>
    timeInTurn(
      short ? 2 : 8,
      short ? 20 : 100,
      () => floor.request('spawn', { command: 'echo hello' }),
      () => daemon.request('execute_command', { command: 'echo hello' }),
      pause,
    ),
});

/** As an agent sends them: a shell that was started ahead is there each time. */
export const oneShot = row('one-shot echo', 0.5, () => sleep(10));

/** Faster than shells can be started: then what one costs in all is what counts, not when it is paid. */
export const oneShotRush = row('one-shot echo, in a rush', 1, undefined);
