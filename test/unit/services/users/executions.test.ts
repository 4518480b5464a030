import { expect, it, vi } from 'vitest';

import { LOCAL_PRINCIPAL, type Principal } from '../../../../src/core/principal.js';
import type { User } from '../../../../src/engine/system/find-user.js';
import { type Execution, Executions, type UserExecution } from '../../../../src/services/executions.js';

const ALICE: User = { name: 'alice', uid: 1000, gid: 1000, home: '/home/alice', shell: '/bin/sh' };
const PRINCIPAL: Principal = { id: 'token_a', name: 'a', role: 'agent', runAs: 'alice', isLocalPeer: false };
const OWN = {} as Execution;

/** What differs from a daemon that can run commands of the user. */
interface Differing {
  readonly isRoot?: boolean;
  readonly find?: () => Promise<User | undefined>;
  readonly build?: (user: User) => Promise<UserExecution>;
}

const make = ({
  isRoot = true,
  find = () => Promise.resolve(ALICE),
  build = () => Promise.resolve({} as UserExecution),
}: Differing = {}): Executions => new Executions(OWN, isRoot, find, build);

it.each<[string, Differing, string]>([
  ['a daemon that is not root', { isRoot: false }, 'the daemon is not root'],
  ['a user that is gone', { find: () => Promise.resolve(undefined) }, 'no such user any more'],
  ['root', { find: () => Promise.resolve({ ...ALICE, uid: 0 }) }, 'it is root'],
  ['what is missing', { build: () => Promise.reject(new Error('setpriv is missing')) }, 'setpriv is missing'],
])('refuses a token for %s', async (_, options, why) => {
  const executions = make(options);
  await expect(executions.prepare('alice')).rejects.toMatchObject({
    code: 'USER_UNAVAILABLE',
    message: expect.stringContaining(why) as string,
    details: { run_as: 'alice' },
  });
  expect(() => executions.of(PRINCIPAL)).toThrow('nothing was prepared');
});

it('builds once for each user, and again for a user with another id', async () => {
  let user = ALICE;
  const build = vi.fn(() => Promise.resolve({} as UserExecution));
  const now = vi.spyOn(performance, 'now');
  try {
    const executions = make({ build, find: () => Promise.resolve(user) });
    expect(executions.of(LOCAL_PRINCIPAL)).toBe(OWN);
    now.mockReturnValue(0);
    await Promise.all([executions.prepare('alice'), executions.prepare('alice')]);
    const first = executions.of(PRINCIPAL);
    now.mockReturnValue(60_000);
    await executions.prepare('alice');
    expect([build.mock.calls.length, executions.of(PRINCIPAL)]).toEqual([1, first]);
    user = { ...ALICE, uid: 1001 };
    now.mockReturnValue(120_000);
    await executions.prepare('alice');
    expect(build).toHaveBeenCalledTimes(2);
    expect(executions.of(PRINCIPAL)).not.toBe(first);
  } finally {
    now.mockRestore();
  }
});

it('uses what it has built again for a user that could not be looked up in between', async () => {
  const found: (User | undefined)[] = [ALICE, undefined, ALICE];
  const build = vi.fn(() => Promise.resolve({} as UserExecution));
  const now = vi.spyOn(performance, 'now');
  try {
    const executions = make({ build, find: () => Promise.resolve(found.shift()) });
    now.mockReturnValue(0);
    await executions.prepare('alice');
    const first = executions.of(PRINCIPAL);
    now.mockReturnValue(60_000);
    await expect(executions.prepare('alice')).rejects.toMatchObject({ code: 'USER_UNAVAILABLE' });
    expect(() => executions.of(PRINCIPAL)).toThrow('nothing was prepared');
    await executions.prepare('alice');
    expect([build.mock.calls.length, executions.of(PRINCIPAL)]).toEqual([1, first]);
  } finally {
    now.mockRestore();
  }
});
