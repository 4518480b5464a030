import { describe, expect, it } from 'vitest';

import type { LimitMechanismName } from '../../../../src/core/limits.js';
import type { RequestInput } from '../../../../src/core/protocol/requests.js';
import { useDaemon } from '../../../support/daemon-and-client.js';
import { MECHANISMS } from '../../../support/machine/limit-mechanisms.js';
import { rounds } from '../../../support/rounds.js';
import type { WireClient } from '../../../support/wire.js';

type Options = Partial<RequestInput<'execute_command'>>;

/** Commands whose end comes near the moment at which a limit strikes. */
interface Race {
  readonly limit: string;
  readonly options: Options;
  /** @param share from 0 to 1: from well before that moment to well after it */
  readonly command: (share: number) => string;
  /** What results look like when it has struck. */
  readonly struck: object;
  /** Whether both ends are sure to be met: a look may come too late for memory. */
  readonly isTimed: boolean;
}

const RACES: readonly Race[] = [
  {
    limit: 'wall time',
    options: { timeout_ms: 60 },
    command: (share) => `sleep ${(share * 0.12).toFixed(4)}; echo end`,
    struck: { status: 'timed_out', timed_out: true, exit_code: 124, killed_by: 'timeout', limit: null },
    isTimed: true,
  },
  {
    limit: 'wall time, in the shell itself',
    options: { timeout_ms: 60 },
    command: (share) => `for ((i = 0; i < ${Math.round(share * 150_000)}; i++)); do :; done; echo end`,
    struck: { status: 'timed_out', timed_out: true, exit_code: 124, killed_by: 'timeout', limit: null },
    isTimed: true,
  },
  {
    limit: 'CPU time',
    options: { limits: { cpu_seconds: 0.04 } },
    command: (share) => `(for ((i = 0; i < ${Math.round(share * 150_000)}; i++)); do :; done) && echo end`,
    struck: { status: 'killed', exit_code: 137, killed_by: 'cpu', limit: { resource: 'cpu_seconds' } },
    isTimed: true,
  },
  {
    limit: 'memory',
    options: { limits: { memory_mb: 24 } },
    command: (share) => `head -c ${Math.round(share * 48)}M /dev/zero | tail -c 64M >/dev/null && echo end`,
    struck: { status: 'killed', exit_code: 137, killed_by: 'memory', limit: { resource: 'memory_mb' } },
    isTimed: false,
  },
  {
    limit: 'memory, of a command that does not mind',
    options: { limits: { memory_mb: 24 } },
    command: (share) => `head -c ${Math.round(share * 48)}M /dev/zero | tail -c 64M >/dev/null; echo end`,
    struck: { status: 'killed', exit_code: 137, killed_by: 'memory', limit: { resource: 'memory_mb' } },
    isTimed: false,
  },
];

const DONE = { status: 'completed', timed_out: false, exit_code: 0, killed_by: null, limit: null, stdout: 'end\n' };

/** Commands of a race that run at a time, each row in a session of its own, and how long a row is. */
const ROWS = 3;
const ROW_LENGTH = rounds(5, 3);

describe.each(MECHANISMS)('limits kept by $title', ({ name, isUsable }) => {
  describe.skipIf(!isUsable)('a command that ends when its limit strikes', () => {
    let client: WireClient;
    useDaemon((started) => ({ client } = started), {
      settings: { adapter: { limit_mechanism: name, kill_grace: 1 } },
    });

    it.each(RACES)('has one result, and the session goes on: $limit', async (race) => {
      const ends = await Promise.all(Array.from({ length: ROWS }, (_, row) => runRow(race, row, name)));
      if (race.isTimed) expect(new Set(ends.flat())).toEqual(new Set(['done', 'struck']));
    });

    /** Runs commands in a session, and another one after each; gives how they have ended. */
    async function runRow(race: Race, row: number, mechanism: LimitMechanismName): Promise<string[]> {
      const id = await client.openSession();
      const ends: string[] = [];
      for (let place = 0; place < ROW_LENGTH; place += 1) {
        const share = (place * ROWS + row) / (ROWS * ROW_LENGTH - 1);
        const commandId = `${id}-${mechanism}-${RACES.indexOf(race)}-${row}-${place}`;
        const result = await client.run(race.command(share), id, {
          ...race.options,
          stream: true,
          command_id: commandId,
        });
        const end = result.killed_by === null ? 'done' : 'struck';
        expect(result).toMatchObject({ ...(end === 'done' ? DONE : race.struck), session_state: 'alive' });
        // What is to end the one must not reach the next.
        const next = await client.run('sleep 0.02; echo next', id, { limits: { memory_mb: 100, cpu_seconds: 10 } });
        expect(next).toMatchObject({ ...DONE, stdout: 'next\n', session_state: 'alive', warnings: [] });
        const told = client.all('command_finished').filter((event) => event.command_id === commandId);
        expect(told).toEqual([expect.objectContaining({ killed_by: result.killed_by, exit_code: result.exit_code })]);
        ends.push(end);
      }
      await client.request('close_session', { session_id: id });
      return ends;
    }
  });
});
