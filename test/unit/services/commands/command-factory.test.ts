import { expect, it, vi } from 'vitest';

import { CommandFactory } from '../../../../src/services/commands/command-factory.js';

it('a command that is refused has no span, which would never end', () => {
  const command = vi.fn();
  const execution = {
    pool: { cwd: '/' },
    oneShots: { sandbox: { profile: 'none', available: ['none'], problems: {} } },
    launch: undefined,
  };
  const factory = new CommandFactory({
    limits: () => ({ maxOneShots: 1, queueLimit: 1 }),
    executions: { running: 0, of: () => execution },
    quotas: { admitOneShot: () => undefined },
    traces: { command },
  } as never);
  const owner = { id: 'someone' };
  const place = { caller: { principal: owner }, owner, session: undefined } as never;
  const request = { command: 'true', cwd: '/no/such/directory', sandbox: 'none' } as never;
  expect(() => factory.accept(request, place, undefined)).toThrow('/no/such/directory');
  expect(command).not.toHaveBeenCalled();
});
