import { inRounds, summarize } from '../measure.mjs';

const MB = 1_000_000;

/** The floor is the same echo in a daemon that does nothing else. */
export const floodBeside = {
  name: 'echo beside a streamed flood',
  target: 25,
  note: 'a client follows 400 MB in another session meanwhile',
  async run({ daemon, short }) {
    const reader = await daemon.connect();
    const { session_id: quiet } = await daemon.request('open_session');
    const { session_id: loud } = await reader.request('open_session');
    const echo = () => daemon.request('execute_command', { session_id: quiet, command: 'echo hello' });
    const command = `yes 0123456789 | head -c ${(short ? 40 : 400) * MB}`;
    const beside = async () => {
      let isDone = false;
      const flood = reader
        .request('execute_command', { session_id: loud, command, stream: true })
        .finally(() => (isDone = true));
      const times = [];
      while (!isDone) {
        const start = performance.now();
        await echo();
        times.push(performance.now() - start);
      }
      await flood;
      return times;
    };
    const { floor } = await inRounds({ rounds: 1, runs: short ? 50 : 500, floor: echo, ours: echo });
    const ours = summarize(await beside());
    reader.disconnect();
    const extra = `p95 ${ours.p95.toFixed(1)} ms (target 10), longest ${ours.max.toFixed(0)} ms (target 100)`;
    return { floor, ours, ratio: ours.p50 / floor.p50, extra };
  },
};
