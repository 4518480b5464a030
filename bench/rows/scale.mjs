import { setTimeout as sleep } from 'node:timers/promises';

import { inRounds } from '../measure.mjs';

const MANY = 1000;
const AT_ONCE = 8;
const IDLE_MS = 10_000;

/** The floor is the same in a daemon with one session. */
export const scale = {
  name: `open_session beside ${MANY} others`,
  target: 1.2,
  settings: { max_sessions: MANY + 500 },
  startFloor: 'daemon',
  async run({ floor, daemon, short }) {
    const others = short ? 40 : MANY;
    for (let opened = 0; opened < others; opened += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, () => daemon.request('open_session')));
    }
    await sleep(1000);
    const idle = await idleShare(daemon, short ? 500 : IDLE_MS);
    const once = (target) => async () => {
      const { session_id } = await target.request('open_session');
      void target.request('close_session', { session_id });
    };
    const measured = await inRounds({
      rounds: short ? 2 : 10,
      runs: 5,
      warmUp: 5,
      floor: once(floor),
      ours: once(daemon),
      pause: () => sleep(50),
    });
    const descriptors = `${(daemon.descriptors() / others).toFixed(1)} descriptors each (target 6)`;
    const start = performance.now();
    await daemon.stop();
    const stopMs = performance.now() - start;
    const extra = `${descriptors}, idle ${idle.toFixed(3)} % of a core (target 0.05), all closed in ${stopMs.toFixed(0)} ms`;
    return { ...measured, extra };
  },
};

/** CPU time of the idle daemon, in percent of a core. */
async function idleShare(daemon, ms) {
  const before = daemon.ownCpuUs();
  await sleep(ms);
  return ((daemon.ownCpuUs() - before) / 1000 / ms) * 100;
}
