import { inRounds } from '../measure.mjs';
import { startDaemon } from '../targets.mjs';
import { startPair } from './pair.mjs';

/** A session's `:` through a gateway beside the same in a daemon alone. */
export const overhead = {
  name: 'a command that is relayed',
  async run({ short }) {
    const daemon = await startDaemon();
    const pair = await startPair();
    const once = async ({ request }) => {
      const { session_id } = await request('open_session');
      const run = () => request('execute_command', { session_id, command: ':' });
      return { run, close: () => request('close_session', { session_id }) };
    };
    const [alone, relayed] = [await once(daemon), await once(pair.gateway)];
    const { floor, ours, cpuUs } = await inRounds({
      rounds: short ? 2 : 40,
      runs: short ? 10 : 200,
      warmUp: short ? 10 : 3000,
      floor: alone.run,
      ours: relayed.run,
      cpuUs: { floor: daemon.cpuUs, ours: () => pair.gateway.cpuUs() + pair.worker.cpuUs() },
    });
    await Promise.all([alone.close(), relayed.close()]);
    await Promise.all([daemon.stop(), pair.stop()]);
    const ms = (value) => value.toFixed(3);
    const cpu = `CPU ${cpuUs.ours.toFixed(0)} µs beside ${cpuUs.floor.toFixed(0)}`;
    return `p50 ${ms(ours.p50)} ms beside ${ms(floor.p50)}: ${ms(ours.p50 - floor.p50)} more (target 0.3); ${cpu}`;
  },
};
