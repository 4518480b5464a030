import { describe, expect, it } from 'vitest';

import { useDaemon } from '../../support/daemon-and-client.js';
import { MECHANISMS } from '../../support/machine/limit-mechanisms.js';
import { eventually } from '../../support/measure.js';
import type { WireClient } from '../../support/wire.js';
import { nextSeconds, ROUNDS, runs, WAYS } from './ways.js';

describe.each(MECHANISMS)('limits kept by $title', ({ name, isUsable }) => {
  describe.skipIf(!isUsable)('the result of a command without a session names what it leaves running', () => {
    let client: WireClient;
    useDaemon((started) => ({ client } = started), {
      settings: { adapter: { limit_mechanism: name, kill_grace: 0.5 } },
    });

    // A namespace has ended with its first process, and what was in it can no longer be told.
    it.skipIf(name === 'pid_namespace').each(Object.entries(WAYS))(
      '%s: of each of several commands without a session, which end it',
      async (_, way) => {
        for (let round = 0; round < ROUNDS; round += 1) {
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
  });
});
