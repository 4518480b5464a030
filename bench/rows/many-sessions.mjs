import { inRounds } from '../measure.mjs';

const SESSIONS = 16;
const COMMANDS = 20;

/** Every session runs its commands one after another, all sessions at once. */
const together = (ids, run) =>
  Promise.all(
    ids.map(async (id) => {
      for (let command = 0; command < COMMANDS; command++) await run(id);
    }),
  );

export const manySessions = {
  name: `${SESSIONS} sessions x ${COMMANDS} echo`,
  target: 2.5,
  async run({ floor, daemon, short }) {
    const open = (how) => Promise.all(Array.from({ length: SESSIONS }, how));
    const shells = await open(async () => (await floor.request('open')).shell);
    const sessions = await open(async () => (await daemon.request('open_session')).session_id);
    const command = 'echo hello';
    const measured = await inRounds({
      rounds: short ? 1 : 24,
      runs: short ? 2 : 3,
      warmUp: short ? 1 : 12,
      floor: () => together(shells, (shell) => floor.request('run', { shell, command })),
      ours: () => together(sessions, (session_id) => daemon.request('execute_command', { session_id, command })),
      cpuUs: { floor: floor.cpuUs, ours: daemon.cpuUs },
    });
    const { floor: floorUs, ours: oursUs } = measured.cpuUs;
    const commands = SESSIONS * COMMANDS;
    return { ...measured, cpuUs: { floor: floorUs / commands, ours: oursUs / commands } };
  },
};
