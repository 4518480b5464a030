import { timeInTurn } from '../measure.mjs';

export const echo = {
  name: 'echo in a session',
  target: 2,
  async run({ floor, daemon, short }) {
    const { shell } = await floor.request('open');
    const { session_id } = await daemon.request('open_session');
    return timeInTurn(
      short ? 2 : 10,
      short ? 50 : 300,
      () => floor.request('run', { shell, command: 'echo hello' }),
      () => daemon.request('execute_command', { session_id, command: 'echo hello' }),
    );
  },
};
