import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { inRounds, summarize } from '../measure.mjs';

const READER = fileURLToPath(new URL('../flood-reader.mjs', import.meta.url));

/** The floor is the same echo in a daemon that does nothing else. */
export const floodBeside = {
  name: 'echo beside a streamed flood',
  target: 25,
  note: 'a client in a process of its own follows 800 MB in another session meanwhile',
  async run({ daemon, short }) {
    const { session_id: quiet } = await daemon.request('open_session');
    const echo = () => daemon.request('execute_command', { session_id: quiet, command: 'echo hello' });
    const beside = async () => {
      const reader = spawn(process.execPath, [READER, daemon.url, short ? '80' : '800'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let isDone = false;
      reader.once('exit', () => (isDone = true));
      await once(reader.stdout, 'data');
      const times = [];
      while (!isDone) {
        const start = performance.now();
        await echo();
        times.push(performance.now() - start);
      }
      return times;
    };
    const { floor } = await inRounds({
      rounds: 1,
      runs: short ? 50 : 500,
      warmUp: short ? 10 : 3000,
      floor: echo,
      ours: echo,
    });
    const ours = summarize(await beside());
    const extra = `p95 ${ours.p95.toFixed(1)} ms (target 10), longest ${ours.max.toFixed(0)} ms (target 100)`;
    return { floor, ours, ratio: ours.p50 / floor.p50, extra };
  },
};
