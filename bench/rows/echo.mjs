import { inRounds } from '../measure.mjs';

/** One command after another in one session. */
const row = (name, target, command, { rounds, runs, warmUp }) => ({
  name,
  target,
  async run({ floor, daemon, short }) {
    const { shell } = await floor.request('open');
    const { session_id } = await daemon.request('open_session');
    return inRounds({
      rounds: short ? 2 : rounds,
      runs: short ? 20 : runs,
      warmUp: short ? 20 : warmUp,
      floor: () => floor.request('run', { shell, command }),
      ours: () => daemon.request('execute_command', { session_id, command }),
      cpuUs: { floor: floor.cpuUs, ours: daemon.cpuUs },
    });
  },
});

/** Warmed up as a daemon is that has worked for a minute. */
export const echo = row('echo in a session', 2, 'echo hello', { rounds: 24, runs: 100, warmUp: 3000 });

export const program = row('program in a session', 1.4, '/bin/true', { rounds: 24, runs: 30, warmUp: 1500 });
