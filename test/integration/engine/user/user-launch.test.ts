import { expect, it } from 'vitest';

import { Terminal } from '../../../../src/engine/shell/terminal.js';
import { findUser } from '../../../../src/engine/system/find-user.js';
import { UserLaunch } from '../../../../src/engine/sandbox/user-launch.js';
import { itRoot } from '../../../support/root.js';

const PATH = process.env['PATH'] ?? '';

const launchAsNobody = async (): Promise<UserLaunch> => {
  const user = await findUser('nobody');
  if (!user) throw new Error('this machine has no user nobody');
  return UserLaunch.find(user, PATH);
};

it.each(['no-such-user', '0', ''])('%j is the name of no user', async (name) => {
  expect(await findUser(name)).toBeUndefined();
});

itRoot('a program of another user has its ids, no capability, and no variable', async () => {
  const launch = await launchAsNobody();
  const said = await launch.run(['/bin/sh', '-c', 'id -un; grep CapEff /proc/self/status; echo "[$HOME]"; pwd']);
  expect(said).toBe('nobody\nCapEff:\t0000000000000000\n[]\n/\n');
  await expect(launch.run(['true'], '/root')).rejects.toThrow(/can't cd to \/root|\/root: Permission denied/);
  expect([await launch.canEnter('/'), await launch.canEnter('/root'), await launch.canEnter('/none')]).toEqual([
    true,
    false,
    false,
  ]);
  expect([launch.canReach('/etc/passwd'), launch.canReach('/root/.ssh')]).toEqual([true, false]);
});

itRoot('auxiliary programs have a session of their own, and so no terminal of the daemon', async () => {
  const launch = await launchAsNobody();
  const [pid, group, session, terminal] = (await launch.run(['/bin/sh', '-c', 'cut -d" " -f1,5,6,7 /proc/$$/stat']))
    .trim()
    .split(' ');
  expect([group, session, terminal]).toEqual([pid, pid, '0']);
});

itRoot('it gets no terminal of the daemon', async () => {
  const launch = await launchAsNobody();
  let exited: () => void = () => undefined;
  const over = new Promise<void>((resolve) => (exited = resolve));
  const program = { file: '/bin/sleep', args: ['60'], cwd: '/', env: {}, cols: 80, rows: 24 };
  const terminal = new Terminal(
    program,
    () => undefined,
    () => {
      exited();
    },
  );
  try {
    expect(await launch.run(['/bin/ls', '-l', '/proc/self/fd'])).not.toContain('/dev/p');
  } finally {
    process.kill(terminal.pid, 'SIGKILL');
    await over;
  }
});
