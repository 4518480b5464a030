import { timeInTurn } from '../measure.mjs';

const PAUSE_MS = 30;

export const openSession = {
  name: 'open_session',
  target: 0.5,
  note: 'sessions are opened at intervals, as people and agents do: a shell is ready by then',
  async run({ floor, daemon, short }) {
    const opened = [];
    const pause = () => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    const times = await timeInTurn(
      short ? 2 : 6,
      short ? 5 : 20,
      () => floor.request('terminal'),
      async () => opened.push((await daemon.request('open_session')).session_id),
      pause,
    );
    for (const session_id of opened) await daemon.request('close_session', { session_id });
    return times;
  },
};
