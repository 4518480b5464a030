import { setTimeout as sleep } from 'node:timers/promises';

import { summarize } from '../measure.mjs';
import { startPair } from './pair.mjs';

const MB = 1_000_000;
const TIMES = 3;
/** Between two echoes, in milliseconds: one after the other would take much of what the flood needs. */
const PAUSE_MS = 10;

/** Output that a client follows through a gateway, and the `echo` of another session meanwhile. */
export const flood = {
  name: 'a flood that is relayed',
  async run({ short }) {
    const pair = await startPair();
    const { gateway, worker } = pair;
    const size = short ? 20 : 300;
    const reader = await gateway.connect();
    const { session_id: loud } = await reader.request('open_session');
    const { session_id: quiet } = await gateway.request('open_session');
    const command = `yes 0123456789 | head -c ${size * MB}`;
    const rates = [];
    const times = [];
    const cpu = gateway.ownCpuUs() + worker.ownCpuUs();
    for (let time = 0; time < (short ? 1 : TIMES); time++) {
      let isDone = false;
      const start = performance.now();
      const flooded = reader
        .request('execute_command', { session_id: loud, command, stream: true })
        .finally(() => (isDone = true));
      while (!isDone) {
        const at = performance.now();
        await gateway.request('execute_command', { session_id: quiet, command: 'echo hello' });
        times.push(performance.now() - at);
        await sleep(PAUSE_MS);
      }
      await flooded;
      rates.push(size / ((performance.now() - start) / 1000));
    }
    const cpuMs = (gateway.ownCpuUs() + worker.ownCpuUs() - cpu) / 1000 / size / rates.length;
    for (const session_id of [loud, quiet]) await gateway.request('close_session', { session_id });
    reader.disconnect();
    await pair.stop();
    const { p50, p95 } = summarize(times);
    const echo = `echo of another session p50 ${p50.toFixed(1)} ms (target 10), p95 ${p95.toFixed(1)}`;
    const cost = `CPU of both ${cpuMs.toFixed(1)} ms for a MB`;
    return `${rates.map((rate) => rate.toFixed(0)).join(', ')} MB/s (target 60), ${echo}; ${cost}`;
  },
};
