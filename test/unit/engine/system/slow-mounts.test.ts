import { expect, it } from 'vitest';

import { parseSlowMounts } from '../../../../src/engine/system/mounts.js';

const MOUNTINFO = `22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
30 22 0:40 / /mnt/nas rw,relatime shared:5 - nfs4 server:/export rw
31 22 0:41 / /home/ada/my\\040files rw,nosuid - fuse.sshfs ada@host: rw,user_id=1000
32 22 0:42 / /proc/sys/fs/binfmt_misc rw - autofs systemd-1 rw
33 22 0:43 / /tmp rw - tmpfs tmpfs rw
34 22 0:44 / /srv/fuse rw - ext4 /dev/fuse1 rw
`;

it('finds file systems of networks and programs', () => {
  expect(parseSlowMounts(MOUNTINFO)).toEqual(['/mnt/nas', '/home/ada/my files', '/proc/sys/fs/binfmt_misc']);
  expect(parseSlowMounts('')).toEqual([]);
});
