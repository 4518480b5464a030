import { inRounds } from '../measure.mjs';

const MIB = 1024 * 1024;

export const largeOutput = {
  name: '100 MiB of output, trimmed',
  target: 1.1,
  async run({ floor, daemon, short }) {
    const command = `head -c ${(short ? 10 : 100) * MIB} /dev/zero`;
    const { session_id } = await daemon.request('open_session');
    // A cold daemon grows with any work: compiled code, and room for short-lived objects.
    for (let run = 0; run < (short ? 10 : 3000); run++)
      await daemon.request('execute_command', { session_id, command: ':' });
    const before = daemon.residentMiB();
    const times = await inRounds({
      rounds: short ? 1 : 8,
      runs: 2,
      warmUp: short ? 1 : 3,
      floor: () => floor.request('count', { command }),
      ours: () => daemon.request('execute_command', { session_id, command }),
    });
    return { ...times, extra: `daemon grew by ${(daemon.residentMiB() - before).toFixed(1)} MiB (target 32)` };
  },
};
