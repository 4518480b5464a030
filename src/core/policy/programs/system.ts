import type { TypingProgram, TypingTable } from '../model.js';
import {
  type ProgramFamily,
  splitOptions,
  typedCode,
  typedShell,
  unless,
  upTo,
  wordsOf,
  type WrapperSpec,
  type WrapperTable,
} from '../program-family.js';
import { TRIVIAL_PROGRAM } from '../subject/assignments.js';
import type { CommandAnalysis } from '../subject/command-analysis.js';
import { each, type ProgramSpec, type ProgramTable, valued } from '../subject/program-spec.js';
import type { Argument } from '../words/argument.js';
import { EXAMPLES, SHOWING } from './system-showing.js';

const text = { operands: 'text' } as const;
const show: ProgramSpec = { class: 'read', ...text };

/** Subcommands of `pass` that show no password. */
const PASS_COMMANDS = /^(?:init|ls|list|find|search|insert|add|edit|generate|rm|mv|cp|git|help|version|grep|-.*)$/;

/** Stores of passwords and keys, and what else shows the secrets of programs. */
const CREDENTIAL_SPECS: ProgramTable = {
  ...each('security keyring secret-tool pass', {
    class: 'execute',
    ...text,
    judge: (subject) => {
      const [name] = subject.args;
      if (subject.program === 'pass' && name && /[/.\w]/.test(name.shape) && !PASS_COMMANDS.test(name.shape))
        subject.add('exfiltration', 'reads credentials');
    },
    subcommands: each('find-generic-password find-internet-password dump-keychain export get lookup show', {
      class: 'exfiltration',
      reason: 'reads credentials',
      ...text,
    }),
  }),
  ...each('op bw lpass gopass doppler infisical chamber', {
    class: 'network',
    ...text,
    options: valued('--account --vault --session --project --config --env'),
    subcommands: {
      ...each('whoami status version --version help --help', show),
      ...each('read get item inject run list export show ls secrets exec document', {
        class: 'exfiltration',
        reason: 'reads credentials',
        ...text,
      }),
    },
  }),
  sops: {
    class: 'execute',
    ...text,
    options: each('-d --decrypt', { class: 'exfiltration', reason: 'reads credentials' }),
    subcommands: each('decrypt exec-env exec-file edit', {
      class: 'exfiltration',
      reason: 'reads credentials',
      ...text,
    }),
  },
  'ansible-vault': {
    class: 'execute',
    ...text,
    subcommands: each('view decrypt edit', { class: 'exfiltration', reason: 'reads credentials', ...text }),
  },
  ...each('age rage', {
    class: 'execute',
    options: each('-d --decrypt', { class: 'exfiltration', reason: 'decrypts' }),
  }),
  ...each('credstash aws-vault envchain summon', { class: 'exfiltration', reason: 'reads credentials', ...text }),
  gcore: { class: 'exfiltration', reason: 'copies the memory of a process', ...text },
  ...each('logger', { class: 'execute', options: each('-f --file', { value: 'read' }), ...text }),
  ...each('logrotate', { class: 'execute', operands: 'read', options: each('-s --state', { value: 'write' }) }),
};

/** The session's own jobs. */
const OWN_JOBS = /^"?(?:\$\(jobs -p\)|`jobs -p`)"?$/;

/** A number that is read from a file with a relative path below the current directory. */
const OWN_FILE = /^"?\$\((?:cat |<)\s*(?!.*\.\.)(?:\.?\w[\w.-]*\/)*\.?\w[\w.-]*\)"?$/;
/** Signal 0: only checks whether a process exists. */
const ASKING = /^-(?:s ?|n ?)?0$/;

/** `kill`: own jobs and processes by number; killing all processes, or the first process, is irreparable. */
function judgeKill(subject: CommandAnalysis): void {
  const [first] = subject.args;
  if (first?.shape === '-l' || first?.shape === '-L') return;
  const { signal, targets } = readCall(subject.args);
  if (ASKING.test(signal)) return;
  subject.add('execute', 'kill signals processes');
  for (const target of targets) if (target.shape !== '--') judgeTarget(subject, target);
}

/** The signal with its option, and the processes. */
function readCall(args: readonly Argument[]): { readonly signal: string; readonly targets: readonly Argument[] } {
  const [{ shape: first } = { shape: '' }, second] = args;
  if (first === '-s' || first === '-n') return { signal: `${first} ${second?.shape ?? ''}`, targets: args.slice(2) };
  // A lone negative number is a process group.
  const hasSignal = /^-(?!-)/.test(first) && args.length > 1;
  return { signal: first, targets: args.slice(hasSignal ? 1 : 0) };
}

function judgeTarget(subject: CommandAnalysis, { value, text, hasSubstitution, isSample }: Argument): void {
  if (value === '-1' || value === '1')
    subject.addFatal(`kill signals every process, or the first process of the machine: ${text}`);
  else if (OWN_JOBS.test(text) || OWN_FILE.test(text)) return;
  else if (value === undefined || hasSubstitution)
    subject.add('destructive', `kill signals processes that are known only at run time: ${text}`);
  else if (!isSample) judgeNumber(subject, value);
}

function judgeNumber(subject: CommandAnalysis, value: string): void {
  if (/^-\d+$/.test(value)) subject.add('destructive', `kill signals a whole group of processes: ${value}`);
  else if (isForeign(subject, value)) subject.add('destructive', `kill signals a process of others: ${value}`);
}

/** Whether a number is not that of a process that the session has started, as far as these are known. */
const isForeign = ({ inquiry: { facts } }: CommandAnalysis, value: string): boolean =>
  facts.ownProcesses !== undefined && /^\d+$/.test(value) && !facts.ownProcesses.has(Number(value));

/** Commands that shut the machine down, for all of its users. */
function judgeShutdown(subject: CommandAnalysis): void {
  const [first] = subject.args;
  if (subject.program === 'shutdown' && first?.value === '-c') return;
  if ((subject.program === 'init' || subject.program === 'telinit') && !/^[06]$/.test(first?.value ?? '')) return;
  subject.addFatal(`${subject.program ?? 'it'} shuts the machine down`);
}

/** Programs that act on the machine: accounts, services, schedules, disks, packages of the system. */
const SPECS: ProgramTable = {
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

const SUDO_VALUED = wordsOf('-u -g -p -C -D -h -r -t -T -R -U --user --group --prompt --chdir --host --chroot');

/** sudo: with -i or -s and no command it starts a shell. A command in its arguments is judged separately. */
const asUser: TypingProgram['takes'] = (args) => {
  const { options, operands } = splitOptions(args, SUDO_VALUED);
  return operands.length === 0 && options.some((option) => /^(?:-[A-Za-z]*[is]|--login|--shell)$/.test(option));
};

const multiplexer: TypingProgram['takes'] = (args) => {
  const { operands } = splitOptions(args, wordsOf('-c -f -L -S -T'));
  const [subcommand = 'new', ...rest] = operands;
  if (/^(?:a|attach.*)$/.test(subcommand)) return true;
  return /^new/.test(subcommand) && !rest.includes('-d') && !args.some((arg) => /^-[VC]+$/.test(arg));
};

/** Programs that start a shell or an editor on the terminal. */
const TYPING: TypingTable = {
  ...each('sudo doas', typedShell(asUser)),
  ...each('su runuser', typedShell(unless(/^(?:-[a-z]*c|--(?:session-)?command.*)$/))),
  ...each('nsenter unshare', typedShell(upTo(0, '-t -S -G -R -w --target --root --wd'))),
  chroot: typedShell(upTo(1, '')),
  machinectl: typedCode((args) => args.some((arg) => /^(?:shell|login)$/.test(arg))),
  ...each('visudo vipw vigr sudoedit', typedCode(unless(), 'terminal')),
  tmux: typedCode(multiplexer, 'terminal'),
  screen: typedCode(unless(/^-(?:ls|list|wipe|v|X|Q|[dD]m.*)$/), 'terminal'),
};

const sudo: WrapperSpec = {
  class: 'privilege',
  reason: 'acts as another user',
  takesVariables: true,
  changesDirectory: ['-D', '--chdir'],
  options: {
    ...valued('-u -g -p -C -D -h -r -t -T -R -U --user --group --prompt --chdir --host --role --type --chroot'),
    ...each('-e --edit', { class: 'persistence', reason: 'edits as another user' }),
  },
};

const su: WrapperSpec = {
  class: 'privilege',
  hasNoCommand: true,
  reason: 'acts as another user',
  options: {
    ...each('-c --command --session-command', { value: 'shell' }),
    ...valued('-g -G -s -w --group --shell --whitelist-environment'),
  },
};

/** Programs that run others as another user, or in another part of the machine. */
const WRAPPERS: WrapperTable = {
  ...each('sudo doas run0', sudo),
  su,
  runuser: { ...su, hasNoCommand: false },
  pkexec: { ...sudo, options: valued('--user') },
  ...each('gosu su-exec setuser', { class: 'privilege', reason: 'acts as another user', skips: 1 }),
  setpriv: { class: 'privilege', options: valued('--reuid --regid --groups --inh-caps --ambient-caps --bounding-set') },
  chroot: { class: 'privilege', skips: 1, isElsewhere: true, options: valued('--userspec --groups') },
  unshare: { class: 'privilege', options: valued('-S -G -R -w --setuid --setgid --root --wd') },
  nsenter: { class: 'privilege', isElsewhere: true, options: valued('-t -S -G --target --setuid --setgid') },
  'systemd-run': {
    class: 'privilege',
    options: valued('-u -p -E -M -H --unit --property --setenv --uid --gid --slice --on-calendar'),
  },
};

/** Programs that act on the machine: accounts, services, schedules, disks, network settings, packages of the system. */
export const SYSTEM: ProgramFamily = {
  name: 'system',
  programs: SPECS,
  wrappers: WRAPPERS,
  showing: SHOWING,
  typing: TYPING,
  traits: {
    runnable: 'sudo doas su pkexec kill pkill killall systemctl crontab at apt apt-get dnf yum',
    metadata: 'smartctl udevadm',
  },
  runnable: /^mkfs\b/,
  variables: [
    {
      names: /^SUDO_ASKPASS$/,
      class: 'obfuscated',
      what: 'sets a program that other programs run',
      harmless: TRIVIAL_PROGRAM,
    },
  ],
  startupPaths: ['~/.gnupg/**', '~/.screenrc', '~/.tmux.conf', '~/.config/systemd/**', '~/.local/share/systemd/**'],
  examples: EXAMPLES,
};
