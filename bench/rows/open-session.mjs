import { setTimeout as sleep } from 'node:timers/promises';

import { inRounds } from '../measure.mjs';

const PAUSE_MS = 30;

export const openSession = {
  name: 'open_session',
  target: 0.5,
  note: 'sessions are opened at intervals, as people and agents do: a shell is ready by then',
  async run({ floor, daemon, short }) {
    const opened = [];
    const measured = await inRounds({
      rounds: short ? 2 : 12,
      runs: short ? 5 : 10,
      warmUp: 5,
      floor: () => floor.request('terminal'),
      ours: async () => opened.push((await daemon.request('open_session')).session_id),
      pause: () => sleep(PAUSE_MS),
    });
    for (const session_id of opened) await daemon.request('close_session', { session_id });
    return measured;
  },
};
