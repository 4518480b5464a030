import { expect, it, vi } from 'vitest';

import { CommandRunner } from '../../../../src/services/commands/command-runner.js';
import { CommandTrail } from '../../../../src/services/commands/command-trail.js';

it('a command that is refused has no span, which would never end', () => {
  const command = vi.fn();
  const execution = {
    pool: { cwd: '/' },
    oneShots: { sandbox: { profile: 'none', available: ['none'], problems: {} } },
    launch: undefined,
  };
  const absent = {} as never;
  const runner = new CommandRunner(
    absent,
    { running: 0, of: () => execution } as never,
    absent,
    { admitOneShot: () => undefined } as never,
    absent,
    absent,
    absent,
    new CommandTrail(absent, absent, { command } as never, absent),
    () => ({ maxOneShots: 1, queueLimit: 1 }) as never,
    () => absent,
  );
  const owner = { id: 'someone' };
  const place = { caller: { principal: owner }, owner, session: undefined } as never;
  const request = { command: 'true', cwd: '/no/such/directory', sandbox: 'none' } as never;
  expect(() => runner.run(request, place, undefined, () => undefined)).toThrow('/no/such/directory');
  expect(command).not.toHaveBeenCalled();
});
