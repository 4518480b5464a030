import { timeInTurn } from '../measure.mjs';

export const oneShot = {
  name: 'one-shot echo',
  target: 0.5,
  run: ({ floor, daemon, short }) =>
    timeInTurn(
      short ? 2 : 8,
      short ? 20 : 100,
      () => floor.request('spawn', { command: 'echo hello' }),
      () => daemon.request('execute_command', { command: 'echo hello' }),
    ),
};
