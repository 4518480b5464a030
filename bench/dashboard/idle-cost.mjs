import { startDaemon } from '../targets.mjs';

/** The floor is a daemon without a dashboard, beside it at the same time. */
export const idleCost = {
  name: 'idle daemon',
  async run({ daemon, short }) {
    const without = await startDaemon({ sections: 'http:\n  dashboard: false\n' });
    try {
      await new Promise((resolve) => setTimeout(resolve, short ? 1000 : 10_000));
      const [floor, ours] = [without.ownCpuUs(), daemon.ownCpuUs()];
      const start = performance.now();
      await new Promise((resolve) => setTimeout(resolve, short ? 1000 : 30_000));
      const percent = (cpuUs) => `${(cpuUs / 10 / (performance.now() - start)).toFixed(3)} % of a core`;
      const [floorShare, ourShare] = [percent(without.ownCpuUs() - floor), percent(daemon.ownCpuUs() - ours)];
      return [
        { what: 'CPU', floor: floorShare, ours: ourShare, target: '+0.01 %' },
        {
          what: 'memory',
          floor: `${without.residentMiB().toFixed(0)} MiB`,
          ours: `${daemon.residentMiB().toFixed(0)} MiB`,
          target: '',
        },
      ];
    } finally {
      await without.stop();
    }
  },
};
