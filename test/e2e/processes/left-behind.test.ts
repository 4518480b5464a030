import { describe, expect, it } from 'vitest';

import { useDaemon } from '../../support/daemon-and-client.js';
import { MECHANISMS } from '../../support/machine/limit-mechanisms.js';
import { eventually } from '../../support/measure.js';
import type { WireClient } from '../../support/wire.js';
import { nextSeconds, ROUNDS, runs, WAYS } from './ways.js';

describe.each(MECHANISMS)('limits kept by $title', ({ name, isUsable }) => {
  describe.skipIf(!isUsable)('the result of a command names what it leaves running', () => {
    let client: WireClient;
    useDaemon((started) => ({ client } = started), {
      settings: { adapter: { limit_mechanism: name, kill_grace: 0.5 } },
    });

    /** Waits until a session has this background process, and no other. */
    async function named(id: string, command: string) {
      return eventually(async () => {
        const { background_processes: all } = await client.request('get_session', { session_id: id });
        expect(all).toMatchObject([{ command }]);
        return all;
      });
    }

    it.each(Object.entries(WAYS))('%s: in each of several sessions, which end it', async (_, way) => {
      for (let session = 0; session < ROUNDS; session += 1) {
        const id = await client.openSession();
        const seconds = nextSeconds();
        const { background_processes: left } = await client.run(way(seconds), id);
        expect(left).toHaveLength(1);
        // On a busy machine it may not be what it is to become yet.
        const expected = await named(id, `sleep ${seconds}`);
        // Another command neither forgets it nor names another.
        expect((await client.run('ls /', id)).background_processes).toEqual(expected);
        await client.request('close_session', { session_id: id });
        expect(runs(seconds), 'at the answer to close_session').toBe(false);
      }
    });

    it('a process that has started another one, and has ended since: the other one', async () => {
      const id = await client.openSession();
      const seconds = nextSeconds();
      const daemon = `import os, time
if os.fork(): os._exit(0)
os.setsid()
time.sleep(0.5)
if os.fork(): os._exit(0)
os.execve("/bin/sleep", ["sleep", "${seconds}"], {})`;
      const { background_processes: left } = await client.run(`python3 -c '${daemon}' >/dev/null 2>&1`, id);
      expect(left).toMatchObject([{ command: expect.stringContaining('python3') as string }]);
      await named(id, `sleep ${seconds}`);
      await client.request('close_session', { session_id: id });
      expect(runs(seconds)).toBe(false);
    });

    it.each(['echo on', 'ls /', 'cat <(echo on)', 'true & wait', 'sleep 0.05 | cat', '(true &); sleep 0.05'])(
      'nothing is left by `%s`',
      async (command) => {
        const id = await client.openSession();
        for (let round = 0; round < ROUNDS; round += 1) {
          expect((await client.run(command, id)).background_processes).toEqual([]);
          expect((await client.run(command)).background_processes).toEqual([]);
        }
        await client.request('close_session', { session_id: id });
      },
    );

    it('what a job of an earlier command has started meanwhile belongs to the list', async () => {
      const id = await client.openSession();
      const seconds = nextSeconds();
      await client.run(`mkfifo go.${seconds}; (cat go.${seconds}; sleep ${seconds}; :) >/dev/null &`, id);
      const { background_processes: left } = await client.run(
        `echo >go.${seconds}; until pgrep -f "^sleep ${seconds}"; do sleep 0.01; done >/dev/null; rm go.${seconds}`,
        id,
      );
      expect(left.map(({ command }) => command)).toContain(`sleep ${seconds}`);
      await client.request('close_session', { session_id: id });
    });
  });
});
