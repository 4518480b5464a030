import { describe, expect, it } from 'vitest';

import { ownGroupOf } from '../../../../src/engine/platform/linux/own-group.js';

const V1 = '35 30 0:30 / /sys/fs/cgroup/memory rw,nosuid shared:15 - cgroup cgroup rw,memory';
const V1_TWO = '36 30 0:31 / /sys/fs/cgroup/cpu,cpuacct rw shared:16 - cgroup cgroup rw,cpu,cpuacct';
const V1_PART = '35 30 0:30 /docker/abc /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory';
const V2 = '30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate';
const V2_SPACE = '30 23 0:26 / /mnt/a\\040b rw - cgroup2 none rw';

describe('the group that a process is in', () => {
  it.each([
    ['version 1', 'memory', V1, '4:memory:/a/b', '/sys/fs/cgroup/memory/a/b'],
    ['at the root', 'memory', V1, '4:memory:/', '/sys/fs/cgroup/memory/'],
    ['two controllers at one place', 'cpuacct', V1_TWO, '2:cpu,cpuacct:/x', '/sys/fs/cgroup/cpu,cpuacct/x'],
    [
      'a container that has only its part mounted',
      'memory',
      V1_PART,
      '4:memory:/docker/abc/d',
      '/sys/fs/cgroup/memory/d',
    ],
    ['a name with a colon', 'memory', V1, '4:memory:/a:b', '/sys/fs/cgroup/memory/a:b'],
    ['version 2', undefined, V2, '0::/user.slice/x.scope', '/sys/fs/cgroup/user.slice/x.scope'],
    ['a mount with a blank in its name', undefined, V2_SPACE, '0::/x', '/mnt/a b/x'],
    ['version 2 that is not there', undefined, V1, '4:memory:/', undefined],
    ['a controller that is not there', 'pids', `${V1}\n${V2}`, '4:memory:/\n0::/', undefined],
  ])('%s', (_, controller, mounts, membership, expected) => {
    expect(ownGroupOf(controller, mounts, `${membership}\n`)).toBe(expected);
  });
});
