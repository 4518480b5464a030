import { timeInTurn } from '../measure.mjs';

const MIB = 1024 * 1024;

export const largeOutput = {
  name: '100 MiB of output, trimmed',
  target: 1.3,
  async run({ floor, daemon, short }) {
    const command = `head -c ${(short ? 10 : 100) * MIB} /dev/zero`;
    const { session_id } = await daemon.request('open_session');
    const before = daemon.residentMiB();
    const times = await timeInTurn(
      short ? 1 : 3,
      short ? 2 : 5,
      () => floor.request('count', { command }),
      () => daemon.request('execute_command', { session_id, command }),
    );
    return { ...times, extra: `daemon grew by ${(daemon.residentMiB() - before).toFixed(1)} MiB (target < 64)` };
  },
};
