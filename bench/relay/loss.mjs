import { setTimeout as sleep } from 'node:timers/promises';

import { summarize } from '../measure.mjs';
import { startPair } from './pair.mjs';

/** The command runs by then, in milliseconds; and it ends by itself, in seconds, though its worker was killed. */
const RUNNING_MS = 200;
const COMMAND = 'sleep 5';

/** From `kill -9` of a worker to `NODE_LOST` for a command that runs there. */
export const loss = {
  name: 'NODE_LOST after a kill',
  async run({ short }) {
    const times = [];
    for (let time = 0; time < (short ? 1 : 15); time++) {
      const pair = await startPair();
      const { gateway, worker } = pair;
      const { session_id } = await gateway.request('open_session');
      const failed = gateway.request('execute_command', { session_id, command: COMMAND }).catch((error) => error);
      await sleep(RUNNING_MS);
      const killed = performance.now();
      process.kill(worker.pid, 'SIGKILL');
      const { message } = await failed;
      if (!message.includes('lost')) throw new Error(`no NODE_LOST: ${message}`);
      times.push(performance.now() - killed);
      await pair.stop();
    }
    const { p50, max } = summarize(times);
    return `p50 ${p50.toFixed(0)} ms, longest ${max.toFixed(0)} of ${times.length} (target 100)`;
  },
};
