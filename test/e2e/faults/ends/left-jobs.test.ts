import { describe, expect, it } from 'vitest';

import { useDaemon } from '../../../support/daemon-and-client.js';
import { TestDaemon } from '../../../support/daemon.js';
import { MECHANISMS } from '../../../support/machine/limit-mechanisms.js';
import { itRootIf } from '../../../support/root.js';
import { canMount } from '../../../support/machine/tmpfs.js';
import { WireClient } from '../../../support/wire.js';

const JOBS = ['nohup sleep 301 >/dev/null 2>&1 & echo $!', '(while :; do sleep 301; done) >/dev/null 2>&1 & echo $!'];
/** The clock of /proc ticks every 10 ms: often enough for jobs and commands that begin within the same tick. */
const ROUNDS = 6;

describe.each(MECHANISMS)('what a command leaves running, limits kept by $title', ({ name, isUsable }) => {
  describe.skipIf(!isUsable)('a daemon', () => {
    let client: WireClient;
    useDaemon((started) => ({ client } = started), {
      settings: { adapter: { limit_mechanism: name, kill_grace: 0.1 } },
    });

    it.each(JOBS)('`%s` outlives the time-out of the very next command', async (start) => {
      const id = await client.openSession();
      const codes: (number | null)[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const pid = (await client.run(start, id)).stdout.trim();
        const next = await client.run('sleep 302', id, { timeout_ms: 50 });
        expect(next.status).toBe('timed_out');
        codes.push((await client.run(`kill -KILL ${pid}`, id)).exit_code);
      }
      expect(codes).toEqual(Array(ROUNDS).fill(0));
      await client.request('close_session', { session_id: id });
    });
  });
});

/** As lxcfs does for containers: an uptime of a few seconds on a machine that has run for longer. */
const OWN_UPTIME = [
  'unshare',
  '-m',
  'sh',
  '-c',
  'file=$(mktemp) && echo 5.00 5.00 >"$file" && mount --bind "$file" /proc/uptime && rm "$file" && exec "$@"',
  'sh',
];

itRootIf(canMount())(
  'what a command leaves running outlives a time-out where the uptime is not that of the machine',
  async () => {
    await using daemon = await TestDaemon.start({ launcher: OWN_UPTIME });
    await using client = await WireClient.connect(daemon.url);
    const id = await client.openSession();
    expect((await client.run('cat /proc/uptime', id)).stdout).toBe('5.00 5.00\n');
    const pid = (await client.run(JOBS[1]!, id)).stdout.trim();
    await client.run('sleep 0.2', id);
    expect((await client.run('sleep 302', id, { timeout_ms: 50 })).status).toBe('timed_out');
    expect((await client.run(`kill -KILL ${pid}`, id)).exit_code).toBe(0);
  },
);
