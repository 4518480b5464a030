import { inRounds } from '../measure.mjs';

const MB = 1_000_000;
/** As the dashboard's terminal asks for: more than a person can read. */
const RATE = 4 * MB;

/** The floor is the same output in a session that no client watches. */
export const watchedOutput = {
  name: '200 MB of output, observed',
  target: 2,
  async run({ daemon, short }) {
    const observer = await daemon.connect();
    const open = async () => (await daemon.request('open_session')).session_id;
    const [alone, watched] = [await open(), await open()];
    await observer.request('attach_session', { session_id: watched, max_bytes_per_second: RATE });
    const command = `yes 0123456789 | head -c ${(short ? 20 : 200) * MB}`;
    const run = (session_id) => () => daemon.request('execute_command', { session_id, command });
    const measured = await inRounds({
      rounds: short ? 1 : 6,
      runs: 1,
      warmUp: 1,
      floor: run(alone),
      ours: run(watched),
    });
    observer.disconnect();
    return measured;
  },
};
