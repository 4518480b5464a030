import { expect, it } from 'vitest';

import { mountPointsOf } from '../../../../src/engine/system/mounts.js';

const MOUNTS = `
20 1 8:1 / / rw - ext4 /dev/sda rw
31 20 0:29 / /sys/fs/cgroup rw - tmpfs tmpfs rw
35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
36 31 0:33 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids
37 20 0:33 / /other\\040place rw - cgroup cgroup rw,pids
38 31 0:34 / /sys/fs/cgroup/pids-not rw - cgroup cgroup rw,cpu`;

it('groups are reached through every mount of their hierarchies, and no other', () => {
  expect(mountPointsOf(['/sys/fs/cgroup/pids/shell-adapter-1'], MOUNTS)).toEqual([
    '/sys/fs/cgroup/pids',
    '/other place',
  ]);
});
