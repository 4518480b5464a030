import { each, type ProgramSpec, type ProgramTable, valued } from '../../subject/program-spec.js';
import { CREDENTIAL_SPECS } from './credentials.js';
import { judgeKill } from './kill.js';
import { judgeShutdown } from './shutdown.js';

const text = { operands: 'text' } as const;
const show: ProgramSpec = { class: 'read', ...text };

/** Programs that act on the machine: accounts, services, schedules, disks, packages of the system. */
export const SPECS: ProgramTable = {
  ...each('kill', { class: 'execute', ...text, judge: judgeKill }),
  ...each('pkill killall skill killall5 xkill slay', {
    class: 'destructive',
    reason: 'ends processes by name',
    ...text,
  }),
  ...each('shutdown reboot halt poweroff telinit init', {
    class: 'destructive',
    reason: 'shuts the machine down',
    ...text,
    judge: judgeShutdown,
  }),
  ...each(
    'mkfs mke2fs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs mkswap wipefs blkdiscard',
    {
      class: 'destructive',
      ...text,
      judge: (subject) => {
        subject.addFatal(`${subject.program ?? 'it'} destroys the data on a disk`);
      },
    },
  ),
  ...each(
    'fdisk sfdisk cfdisk gdisk sgdisk parted partprobe growpart lvcreate lvextend lvreduce lvremove lvresize vgcreate vgextend vgreduce vgremove pvcreate pvmove pvremove pvresize zpool zfs btrfs mdadm cryptsetup hdparm nvme blockdev sg_format badblocks e2label xfs_growfs xfs_repair',
    {
      class: 'destructive',
      reason: 'changes disks',
      ...text,
    },
  ),
  ...each(
    'mount umount swapon swapoff losetup fsck e2fsck resize2fs tune2fs quotacheck fstrim efibootmgr ipmitool ntpdate chronyc',
    {
      class: 'privilege',
      ...text,
    },
  ),
  ...each('sudoedit login newgrp sg capsh agetty', { class: 'privilege', reason: 'acts as another user', ...text }),
  ...each('dbus-send busctl gdbus qdbus fsfreeze dmsetup rtcwake renice', { class: 'privilege', ...text }),
  ...each('ansible ansible-playbook pssh parallel-ssh pdsh dsh clush salt', {
    class: 'obfuscated',
    reason: 'runs commands on other machines',
    ...text,
  }),
  ...each('tcpdump', {
    class: 'privilege',
    ...text,
    options: { '-w': { value: 'write' }, '-z': { value: 'code' }, ...valued('-i -c -r -s -n') },
  }),
  ...each('modprobe insmod rmmod depmod sysctl kexec setcap setenforce aa-disable auditctl', {
    class: 'privilege',
    ...text,
  }),
  ...each(
    'iptables ip6tables iptables-restore ip6tables-restore ebtables arptables ipset conntrack nft ufw firewall-cmd ip ifconfig route tc brctl wg wg-quick iw iwconfig ethtool nmcli networkctl netplan resolvectl ifup ifdown dhclient',
    {
      class: 'privilege',
      reason: 'changes the network',
      ...text,
      subcommands: each('addr address a link route neigh rule -br show list status', {
        class: 'read',
        ...text,
        subcommands: each('add del delete set change replace flush append', { class: 'privilege', ...text }),
      }),
    },
  ),
  ...each(
    'useradd adduser usermod userdel deluser groupadd groupmod groupdel passwd chpasswd gpasswd chsh chfn vipw visudo newusers',
    {
      class: 'persistence',
      reason: 'changes accounts',
      ...text,
    },
  ),
  crontab: {
    class: 'read',
    ...text,
    options: { ...each('-r', { class: 'destructive', reason: 'deletes a schedule' }), ...valued('-u') },
    judge: (subject) => {
      const isShown = subject.args.some(({ value }) => value === '-l');
      if (!isShown) subject.add('persistence', 'crontab changes what runs later');
    },
  },
  ...each('at batch anacron fcron', { class: 'persistence', reason: 'runs commands later', ...text }),
  machinectl: {
    class: 'privilege',
    reason: 'controls machines and containers, and starts shells in them',
    ...text,
    subcommands: { ...each('list status show list-images image-status show-image', show) },
  },
  systemctl: {
    class: 'privilege',
    reason: 'controls services',
    ...text,
    options: valued('-t -p -n -o -H -M --type --property --lines --state'),
    subcommands: {
      ...each(
        'status show list-units list-unit-files list-timers list-sockets list-dependencies is-active is-enabled is-failed cat help get-default list-jobs',
        show,
      ),
      ...each(
        'enable disable mask unmask edit link revert set-property daemon-reload add-wants preset set-default reenable',
        {
          class: 'persistence',
          ...text,
        },
      ),
      ...each('poweroff reboot halt kexec suspend hibernate rescue emergency exit', {
        class: 'destructive',
        ...text,
        judge: judgeShutdown,
      }),
    },
  },
  ...each('service rc-service initctl launchctl supervisorctl', {
    class: 'privilege',
    reason: 'controls services',
    ...text,
  }),
  ...each(
    'update-rc.d chkconfig rc-update a2ensite a2dissite a2enmod a2dismod update-alternatives ldconfig dpkg-reconfigure update-grub grub-install',
    {
      class: 'persistence',
      ...text,
    },
  ),
  ...each('timedatectl hostnamectl localectl loginctl hwclock', {
    class: 'privilege',
    ...text,
    subcommands: each('status show list-sessions list-users list-timezones', show),
  }),
  ...each(
    'apt apt-get aptitude dnf yum zypper pacman apk brew snap flatpak dpkg rpm emerge xbps-install nix-env port',
    {
      class: 'privilege',
      reason: 'installs, changes or removes system packages',
      ...text,
      options: {
        ...each('-o --option', {
          class: 'obfuscated',
          reason: 'changes settings that may run programs',
          value: 'text',
          harmless: /^(?!.*(?:Invoke|Options::|Post|Dir|Proxy|Methods|::Bin|Pager)).*$/i,
        }),
        ...valued('-c -t'),
      },
      subcommands: {
        ...each(
          'list search show info policy depends rdepends changelog download source madison stats showpkg why leaves deps outdated',
          show,
        ),
        update: { class: 'network', ...text },
        ...each('remove purge autoremove erase uninstall autoclean clean', {
          class: 'destructive',
          reason: 'removes programs',
          ...text,
        }),
      },
    },
  ),
  ...each('dpkg-divert dpkg-statoverride debconf-set-selections', {
    class: 'privilege',
    reason: 'installs, changes or removes system packages',
    ...text,
  }),
  ...each('apt-cache dpkg-query apt-config', show),
  'apt-mark': {
    ...show,
    subcommands: each('hold unhold auto manual minimize-manual', {
      class: 'privilege',
      reason: 'installs, changes or removes system packages',
      ...text,
    }),
  },
  ...CREDENTIAL_SPECS,
  keytool: { class: 'execute', ...text },
  // The daemon's own user has all its rights, including the right to confirm a command.
  'shell-adapter': {
    class: 'privilege',
    reason: 'controls shell-adapter itself',
    ...text,
    subcommands: {
      ...each('metadata doctor check sessions protocol tools help --help --version -V', show),
      // `init` and `trust` change which configuration is in force.
      config: {
        class: 'privilege',
        reason: 'changes the configuration of shell-adapter',
        ...text,
        subcommands: each('check show help --help', show),
      },
    },
  },
  ...each('gpg gpg2', {
    class: 'execute',
    options: {
      ...each('-o --output', { value: 'write' }),
      ...each('--export-secret-keys --export-secret-subkeys', { class: 'exfiltration', reason: 'reads credentials' }),
      ...valued('-r -u'),
    },
  }),
  gio: {
    class: 'execute',
    subcommands: {
      ...each('list info tree cat monitor', { class: 'read' }),
      ...each('trash remove', { class: 'destructive', operands: 'remove' }),
      ...each('copy move', { class: 'write', operands: 'into' }),
      save: { class: 'write', operands: 'write' },
    },
  },
  ...each('xdg-open open start', { class: 'execute' }),
  ...each('screen tmux byobu zellij dtach abduco', {
    class: 'obfuscated',
    reason: 'runs commands on another terminal',
    ...text,
  }),
  ...each('qemu-system-x86_64', { class: 'execute', ...text }),
};
