import { readdirSync, readFileSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { MECHANISMS } from '../../support/limit-mechanisms.js';
import { eventually } from '../../support/measure.js';
import { WireClient } from '../../support/wire.js';

/** Sessions in which each command has to tell what it leaves: a matter of luck shows in so many. */
const SESSIONS = 12;

const python = (forks: string) => (seconds: string) => `python3 -c 'import os
${forks}
os.execve("/bin/sleep", ["sleep", "${seconds}"], {})' >/dev/null 2>&1`;
const DOUBLE_FORK = 'if os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)';

/** Commands that leave a `sleep` behind, each by another way out of what a shell keeps together. */
const WAYS: Readonly<Record<string, (seconds: string) => string>> = {
  'a job': (seconds) => `sleep ${seconds} >/dev/null 2>&1 &`,
  'a job of a subshell': (seconds) => `(sleep ${seconds} &)`,
  'a silent job of a subshell': (seconds) => `(sleep ${seconds} >/dev/null 2>&1 &)`,
  nohup: (seconds) => `nohup sleep ${seconds} >/dev/null 2>&1 &`,
  'setsid -f': (seconds) => `setsid -f sleep ${seconds} >/dev/null 2>&1`,
  'a double fork in a session of its own': (seconds) =>
    `(setsid sh -c "(sleep ${seconds} &)" >/dev/null 2>&1 &); sleep .3`,
  'an emptied environment in a session of its own': (seconds) => `(env -i setsid sleep ${seconds} >/dev/null 2>&1 &)`,
  'a daemon by python that has emptied its environment': python(DOUBLE_FORK),
};

/** Whether any process of the machine has this argument. */
const runs = (seconds: string) =>
  readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(seconds);
    } catch {
      // It has ended.
      return false;
    }
  });

describe.each(MECHANISMS)('limits kept by $title', ({ name, isUsable }) => {
  describe.skipIf(!isUsable)('the result of a command names what it leaves running', () => {
    let daemon: TestDaemon;
    let client: WireClient;
    let made = 0;

    /** A time to sleep that tells this process from all others. */
    const nextSeconds = () => `300.${process.pid}${String((made += 1)).padStart(4, '0')}`;

    beforeAll(async () => {
      daemon = await TestDaemon.start({ settings: { adapter: { limit_mechanism: name, kill_grace: 0.5 } } });
      client = await WireClient.connect(daemon.url);
    });

    afterAll(async () => {
      await client[Symbol.asyncDispose]();
      await daemon[Symbol.asyncDispose]();
    });

    it.each(Object.entries(WAYS))('%s: in each of twelve sessions, which end it', async (_, way) => {
      for (let session = 0; session < SESSIONS; session += 1) {
        const id = await client.openSession();
        const seconds = nextSeconds();
        const { background_processes: left } = await client.run(way(seconds), id);
        expect(left).toHaveLength(1);
        // On a busy machine it may not be what it is to become yet.
        const expected = [{ pid: left[0]!.pid, command: `sleep ${seconds}` }];
        await eventually(async () => {
          expect((await client.request('get_session', { session_id: id })).background_processes).toEqual(expected);
        });
        // Another command neither forgets it nor names another.
        expect((await client.run('ls /', id)).background_processes).toEqual(expected);
        await client.request('close_session', { session_id: id });
        expect(runs(seconds), 'at the answer to close_session').toBe(false);
      }
    });

    // A namespace has ended with its first process, and what was in it can no longer be told.
    it.skipIf(name === 'pid_namespace').each(Object.entries(WAYS))(
      '%s: of each of twelve commands without a session, which end it',
      async (_, way) => {
        for (let round = 0; round < SESSIONS; round += 1) {
          const seconds = nextSeconds();
          const { background_processes: left, warnings } = await client.run(way(seconds));
          expect(left).toHaveLength(1);
          expect(warnings.map(({ code }) => code)).toContain('BACKGROUND_ENDED');
          await eventually(() => {
            expect(runs(seconds)).toBe(false);
          });
        }
      },
    );

    it('a program without a session that leaves a daemon with an emptied environment: it is ended with it', async () => {
      const seconds = nextSeconds();
      // It ends when the last one executes, which closes the pipe.
      const script = `import os
r, w = os.pipe()
if os.fork(): os.close(w); os.read(r, 1); os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.execve("/bin/sleep", ["sleep", "${seconds}"], {})`;
      expect(await client.run('python3', undefined, { args: ['-c', script] })).toMatchObject({ exit_code: 0 });
      await eventually(() => {
        expect(runs(seconds)).toBe(false);
      });
    });

    it.each(['echo on', 'ls /', 'cat <(echo on)', 'true & wait', 'sleep 0.05 | cat', '(true &); sleep 0.05'])(
      'nothing is left by `%s`',
      async (command) => {
        const id = await client.openSession();
        for (let round = 0; round < SESSIONS; round += 1) {
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
