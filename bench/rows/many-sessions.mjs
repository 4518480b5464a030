import { timeInTurn } from '../measure.mjs';

const SESSIONS = 16;
const COMMANDS = 60;

/** Every session runs its commands one after another, all sessions at once. */
const together = (ids, run) =>
  Promise.all(
    ids.map(async (id) => {
      for (let command = 0; command < COMMANDS; command++) await run(id);
    }),
  );

export const manySessions = {
  name: `${SESSIONS} sessions x ${COMMANDS} echo`,
  target: 3,
  async run({ floor, daemon, short }) {
    const open = (how) => Promise.all(Array.from({ length: SESSIONS }, how));
    const shells = await open(async () => (await floor.request('open')).shell);
    const sessions = await open(async () => (await daemon.request('open_session')).session_id);
    return timeInTurn(
      short ? 1 : 4,
      short ? 2 : 5,
      () => together(shells, (shell) => floor.request('run', { shell, command: 'echo hello' })),
      () =>
        together(sessions, (session_id) => daemon.request('execute_command', { session_id, command: 'echo hello' })),
    );
  },
};
