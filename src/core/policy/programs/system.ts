import type { ProgramFamily } from '../program-catalog.js';
import { TRIVIAL_PROGRAM } from '../subject/assignments.js';
import type { CommandAnalysis } from '../subject/command-analysis.js';
import { splitOptions, type Takes } from '../typed-input.js';
import type { Argument } from '../words/argument.js';

const ENTRIES = String.raw`
%sudo: read
  -u -g -p -C -D -h -r -t -T -R -U --user --group --prompt --chdir --host --role --type --chroot = text
  -e --edit ! persistence edits as another user
%su: read
  -c --command --session-command = shell
  -g -G -s -w --group --shell --whitelist-environment = text
  typed shell unless /^(?:-[a-z]*c|--(?:session-)?command.*)$/
kill <text>: execute
  rule kill
  is runnable
  e.g. kill 7: execute
pkill killall skill killall5 xkill slay <text>: destructive ends processes by name
  is runnable of pkill killall
  e.g. pkill node: destructive
shutdown <text>: destructive shuts the machine down
  when no /^-c$/ ! fatal shutdown shuts the machine down
  e.g. shutdown -h now: destructive
reboot halt poweroff <text>: fatal shuts the machine down
  e.g. reboot: destructive
telinit init <text>: destructive shuts the machine down
  when /^[06]$/ ! fatal {it} shuts the machine down
  e.g. init 3: destructive
mkfs mke2fs mkfs.ext2 mkfs.ext3 mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs mkswap wipefs \
    blkdiscard <text>: fatal destroys the data on a disk
  e.g. wipefs -a /dev/sda: destructive
fdisk sfdisk cfdisk gdisk partprobe growpart lvcreate lvextend lvreduce lvremove lvresize vgcreate vgextend vgreduce \
    vgremove pvcreate pvmove pvremove pvresize sg_format badblocks e2label xfs_growfs xfs_repair sgdisk parted zpool \
    zfs btrfs mdadm cryptsetup hdparm nvme blockdev <text>: destructive changes disks
  shows first -[lx]|--list(?:-details)? then <word> of fdisk
  shows first -[ldJV]|--(?:list|dump|json|verify) then <word> of sfdisk
  shows first -[pv]|--print|--verify then <word> of sgdisk
  shows exactly (?:-[lm]+|--list|(?:-[sm]+ )*<word> print(?: free| all)?) of parted
  shows first status|list|iostat|history|get then <word> | -[vxHpPLTgil]+ | -o [\w,]+ of zpool
  shows first list|get|holds then <word> | -[rHpd]+ | -[ots] [\w,:.-]+ of zfs
  shows first filesystem (?:show|df|usage)|subvolume (?:list|show)|device (?:stats|usage) then <word> of btrfs
  shows first --(?:detail|examine|query)|-[DEQ] then <word> | --(?:scan|brief|verbose) | -[sbv]+ of mdadm
  shows first status|luksDump|isLuks then <word> of cryptsetup
  shows any -[IigCtT]+ | /dev/[\w/]+ of hdparm
  shows first list(?:-subsys)?|smart-log|id-ctrl|id-ns|error-log then <word> of nvme
  shows any --get\w+ | --report | <word> of blockdev
  e.g. fdisk -l /dev/sda: read; fdisk /dev/sda: destructive; sfdisk -l: read; cfdisk x: destructive; sgdisk -p \
      /dev/sda: read; parted -l: read; zpool status -v tank: read; zfs list -t snapshot: read; btrfs filesystem df \
      /: read; mdadm --detail /dev/md0: read; cryptsetup status x: read; hdparm -I /dev/sda: read; nvme list: read; \
      blockdev --report: read
mount umount swapoff resize2fs quotacheck fstrim dbus-send gdbus qdbus fsfreeze rtcwake renice modprobe insmod rmmod \
    depmod kexec setcap setenforce aa-disable swapon losetup fsck e2fsck tune2fs efibootmgr ipmitool ntpdate chronyc \
    busctl dmsetup sysctl auditctl <text>: privilege
  shows any -[lv] | --show-labels | --verbose | (?:-t|--types) [\w,.-]+ of mount
  shows any -s | --summary | --show(?:=[\w,]+)? | --(?:noheadings|raw|bytes|verbose) of swapon
  shows any -[alnJ]+ | --(?:all|list|noheadings|json|raw) | -O [\w,-]+ | --output[= ][\w,-]+ of losetup
  shows first -N then <word> | -A | -t \w+ of fsck
  shows first -n|-fn|-nf|-f -n then <word> of e2fsck
  shows first -l then <word> of tune2fs
  shows any -v | --verbose of efibootmgr
  shows first (?:sdr|sensor|fru)(?: list)?|sel (?:list|elist|info)|chassis (?:power )?status|mc info|lan print then \
      <name> of ipmitool
  shows first -q then <name> of ntpdate
  shows first (?:-n )?(?:tracking|sources|sourcestats|activity|ntpdata|serverstats) then -v of chronyc
  shows first list|status|tree then <name> | --user | --system | --no-pager of busctl
  shows first ls|info|status|table|deps then <name> | --tree | -c of dmsetup
  shows any -[aAneNbX]+ | --(?:all|names|values|ignore) | (?:-r|--pattern) [\w.^$*\\-]+ | (?!-)[\w./*-]+ of sysctl
  shows exactly -[lsv] of auditctl
  e.g. mount -t ext4: read; mount -a: privilege; dbus-send x: privilege; modprobe x: privilege; swapon --show: read; \
      losetup -a: read; fsck -N /dev/sda1: read; e2fsck -n /dev/sda1: read; tune2fs -l /dev/sda1: read; efibootmgr \
      -v: read; ipmitool sdr list: read; ntpdate -q host: read; chronyc tracking: read; busctl list --no-pager: \
      read; dmsetup ls --tree: read; sysctl -a: read; auditctl -l: read
sudoedit login newgrp sg capsh agetty <text>: privilege acts as another user
  typed code on terminal always of sudoedit
  e.g. sudoedit x: privilege; login: privilege
ansible ansible-playbook pssh parallel-ssh pdsh dsh clush salt <text>: obfuscated runs commands on other machines
  e.g. pssh -i x: obfuscated
tcpdump <text>: privilege
  -w = write
  -z = code
  -i -c -r -s -n = text
  e.g. tcpdump -i any: privilege
iptables ip6tables ebtables arptables iptables-restore ip6tables-restore nft ufw ip brctl wg wg-quick ifup ifdown \
    dhclient ipset conntrack firewall-cmd ifconfig route tc iw iwconfig ethtool nmcli networkctl netplan resolvectl \
    <text>: privilege changes the network
  addr address a link route neigh rule -br show list status: read
    add del delete set change replace flush append: privilege
  shows any -[LSnvx]+ | --list(?:-rules)? | --numeric | --verbose | --line-numbers | -t \w+ | <name> of iptables \
      ip6tables ebtables arptables
  shows first list|-L|--list then <name> | -[nt] of ipset
  shows any -[LSC] | --(?:dump|stats|count) | -p \w+ of conntrack
  shows any --state | --version | --permanent | --zone=<name> | --(?:list|get|query|info)-[\w-]+(?:=\S+)? of \
      firewall-cmd
  shows exactly (?:-[as]|(?:-[asv] )?<name>)? of ifconfig
  shows any -[neve46]+ | --numeric | --extend | -A inet6? of route
  shows exactly (?:-(?:[sdrpnj]|stat(?:istic)?s|details|raw|pretty) )*(?:qdisc|class|filter)(?: (?:show|list|ls|dev \
      <name>|parent <name>))* of tc
  shows exactly (?:list|phy|reg get|dev(?: <name> (?:info|link|station dump))?) of iw
  shows exactly (?:<name>)? of iwconfig
  shows exactly (?:-[iSkgacmTnxlPe] )?<name> of ethtool
  shows exactly (?:(?:-[tp]|-f \S+) )*(?:(?:general|g|networking|n|radio|r|connection|con|c|device|dev|d)(?: \
      (?:status|show)(?: <name>)*| wifi list)?)? of nmcli
  shows exactly (?:(?:list|status|lldp)(?: <name>)*)? of networkctl
  shows first get|status|info then <name> of netplan
  shows exactly (?:(?:status|statistics|query|service)(?: <name>)*)? of resolvectl
  e.g. arptables: read; ebtables -L: read; ip6tables -L: read; iptables -L -n -v: read; ip link set eth0 up: \
      privilege; ipset list: read; conntrack -L: read; firewall-cmd --list-all: read; ifconfig -a: read; route -n: \
      read; tc -s qdisc show dev eth0: read; iw dev: read; iwconfig wlan0: read; ethtool eth0: read; nmcli -t con \
      show: read; networkctl status: read; netplan status: read; resolvectl status: read
useradd adduser usermod userdel deluser groupadd groupmod groupdel chpasswd gpasswd chsh chfn newusers passwd vipw \
    visudo <text>: persistence changes accounts
  shows exactly (?:-S|--status)(?: <name>| -a| --all)? of passwd
  typed code on terminal always of vipw visudo
  e.g. useradd x: persistence; passwd -S root: read; visudo: persistence
crontab <text>: read
  -r ! destructive deletes a schedule
  -u = text
  when no /^-l$/ ! persistence crontab changes what runs later
  is runnable
  e.g. crontab -l: read
at batch anacron fcron <text>: persistence runs commands later
  shows exactly -(?:l|V)(?: -q \w)? of at
  is runnable of at
  e.g. at -l: read; batch x: persistence
machinectl <text>: privilege controls machines and containers, and starts shells in them
  list status show list-images image-status show-image: read
  typed code rule machine
  e.g. machinectl list: read; machinectl shell: privilege; machinectl shell root@host /bin/true: privilege
systemctl <text>: privilege controls services
  -t -p -n -o -H -M --type --property --lines --state = text
  status show list-units list-unit-files list-timers list-sockets list-dependencies is-active is-enabled is-failed \
      cat help get-default list-jobs: read
  enable disable mask unmask edit link revert set-property daemon-reload add-wants preset set-default reenable: \
      persistence
  poweroff reboot halt kexec suspend hibernate rescue emergency exit: fatal shuts the machine down
  shows any --(?:failed|all|no-pager|no-legend|plain|full|user|system|quiet) | -[alq]+ | (?:-t |--type[= ])[\w,]+ \
      | --state[= ][\w,-]+
  is runnable
  e.g. systemctl status x: read; systemctl --failed --no-pager: read; systemctl enable x: persistence
service rc-service initctl launchctl supervisorctl <text>: privilege controls services
  shows exactly (?:<name> status|--status-all) of service
  shows first list|status|version then <name> of initctl
  shows first list|print|blame|print-disabled then <word> of launchctl
  shows first status|avail|pid|version then <word> of supervisorctl
  e.g. service nginx status: read; service nginx restart: privilege; rc-service x: privilege; initctl list: read; \
      launchctl list: read; supervisorctl status: read
update-rc.d rc-update a2ensite a2dissite a2enmod a2dismod ldconfig dpkg-reconfigure update-grub grub-install \
    chkconfig update-alternatives <text>: persistence
  shows first --list then <name> of chkconfig
  shows first --(?:list|display|query|get-selections) then <name> of update-alternatives
  e.g. update-rc.d x: persistence; chkconfig --list: read; chkconfig x on: persistence; update-alternatives \
      --display java: read
timedatectl localectl hostnamectl loginctl hwclock <text>: privilege
  status show list-sessions list-users list-timezones: read
  shows any --no-pager of timedatectl localectl
  shows any --no-pager | --static | --transient | --pretty | --json=\w+ of hostnamectl
  shows any --no-pager | --no-legend of loginctl
  shows first -r|--show|--get then -v|--verbose | -u|--utc | -l|--localtime of hwclock
  e.g. localectl: read; timedatectl: read; hostnamectl: read; hostnamectl set-hostname x: privilege; loginctl: read; \
      hwclock --show: read
apt apt-get aptitude yum zypper apk brew snap flatpak emerge xbps-install nix-env port dnf pacman dpkg rpm <text>: \
    privilege installs, changes or removes system packages
  -o --option = text ! obfuscated changes settings that may run programs unless \
      /^(?!.*(?:Invoke|Options::|Post|Dir|Proxy|Methods|::Bin|Pager)).*$/i
  -c -t = text
  list search show info policy depends rdepends changelog download source madison stats showpkg why leaves deps \
      outdated: read
  update: network
  remove purge autoremove erase uninstall autoclean clean: destructive removes programs
  shows first history(?: (?:list|info))?|repolist|module list then <word> | --all of dnf
  shows first -(?:Q[a-z]*|S[si]+) then <word> of pacman
  shows first \
      -[lLSspVCcI]|--(?:list|listfiles|search|status|print-avail|verify|audit|contents|info|get-selections|print-architecture|version) \
      then <word> of dpkg
  shows first -q[a-z]*|--query|-V[a-z]*|--verify then <word> | -[a-z]* | \
      --(?:all|list|info|last|changelog|requires|provides|scripts|configfiles|docfiles|state|whatprovides|whatrequires|file) \
      of rpm
  is runnable of apt apt-get yum dnf
  e.g. apt install x: privilege; dnf history: read; pacman -Qi bash: read; dpkg -l: read; rpm -qa: read
dpkg-divert dpkg-statoverride debconf-set-selections <text>: privilege installs, changes or removes system \
    packages
  e.g. dpkg-divert x: privilege
apt-cache dpkg-query apt-config <text>: read
  e.g. apt-cache show x: read
apt-mark <text>: read
  hold unhold auto manual minimize-manual: privilege installs, changes or removes system packages
  e.g. apt-mark showhold: read
pass <text>: exfiltration reads credentials
  init ls list find search insert add edit generate rm mv cp git help version grep: execute
  shows exactly (?:-\S+)?
  e.g. pass show x: exfiltration; pass web/x: exfiltration; pass -c web/x: exfiltration; pass ls: execute; pass --version: read
security keyring secret-tool <text>: execute
  find-generic-password find-internet-password dump-keychain export get lookup show: exfiltration reads \
      credentials
  e.g. keyring get x y: exfiltration
op bw lpass gopass doppler infisical chamber <text>: network
  --account --vault --session --project --config --env = text
  whoami status version --version help --help: read
  read get item inject run list export show ls secrets exec document: exfiltration reads credentials
  e.g. op read op://x/y: exfiltration
sops <text>: execute
  -d --decrypt ! exfiltration reads credentials
  decrypt exec-env exec-file edit: exfiltration reads credentials
  e.g. sops -d x: exfiltration
ansible-vault <text>: execute
  view decrypt edit: exfiltration reads credentials
  e.g. ansible-vault view x: exfiltration
age rage: execute
  -d --decrypt ! exfiltration decrypts
  e.g. age -e x: execute
credstash aws-vault envchain summon <text>: exfiltration reads credentials
  e.g. credstash get x: exfiltration
gcore <text>: exfiltration copies the memory of a process
  e.g. gcore 1: exfiltration
logger <text>: execute
  -f --file = read
  e.g. logger x: execute
logrotate: execute
  -s --state = write
  e.g. logrotate c: execute
keytool qemu-system-x86_64 <text>: execute
  e.g. keytool -list: execute; qemu-system-x86_64 x: execute
shell-adapter <text>: privilege controls shell-adapter itself
  metadata doctor check sessions protocol tools help --help --version -V: read
  config: privilege changes the configuration of shell-adapter
    check show help --help: read
  e.g. shell-adapter doctor: read; shell-adapter config show: read; shell-adapter config trust: privilege; \
      shell-adapter config init --force: privilege
gpg gpg2: execute
  -o --output = write
  --export-secret-keys --export-secret-subkeys ! exfiltration reads credentials
  -r -u = text
  e.g. gpg -o /srv/x y: destructive
gio: execute
  list info tree cat monitor: read
  trash remove <remove>: destructive
  copy move <read... into>: write
  save <write>: write
  e.g. gio trash x: destructive
xdg-open open start: execute
  e.g. open x: execute
screen byobu zellij dtach abduco <text>: obfuscated runs commands on another terminal
  typed code on terminal unless /^-(?:ls|list|wipe|v|X|Q|[dD]m.*)$/ of screen
  shows exactly -(?:ls|list|v)(?: <name>)? of screen
  e.g. screen -ls: read; screen: obfuscated; byobu x: obfuscated
tmux <text>: obfuscated runs commands on another terminal
  -c -f -L -S -T = text
  typed code on terminal rule multiplexer
  shows first ls|list-(?:sessions|windows|panes|clients)|ls[wpc] then -[as] | -t <name>
  e.g. tmux ls: read; tmux: obfuscated
sudo doas run0: privilege acts as another user
  runs variables, directory -D --chdir
  like %sudo
  typed shell rule asUser of sudo doas
  is runnable of sudo doas
  e.g. sudo -i: privilege; sudo ls: privilege; run0 host ls: privilege
su: privilege acts as another user
  runs no-command
  like %su
  is runnable
  e.g. su -: privilege
runuser: privilege acts as another user
  runs
  like %su
  e.g. runuser ls: privilege
pkexec: privilege acts as another user
  runs variables, directory -D --chdir
  --user = text
  is runnable
  e.g. pkexec ls: privilege
gosu su-exec setuser: privilege acts as another user
  runs after 1
  e.g. gosu ada ls: privilege
setpriv: privilege
  runs
  --reuid --regid --groups --inh-caps --ambient-caps --bounding-set = text
  e.g. setpriv ls: privilege
chroot: privilege
  runs after 1, elsewhere
  --userspec --groups = text
  typed shell upto 1
  e.g. chroot /x: privilege
unshare: privilege
  runs
  -t -S -G -R -w --target --setuid --setgid --root --wd = text
  typed shell upto 0
  e.g. unshare -r ls: privilege
nsenter: privilege
  runs elsewhere
  -t -S -G --target --setuid --setgid = text
  typed shell upto 0
  e.g. nsenter: privilege
systemd-run: privilege
  runs
  -u -p -E -M -H --unit --property --setenv --uid --gid --slice --on-calendar = text
  e.g. systemd-run ls: privilege
vigr:
  typed code on terminal always
smartctl udevadm:
  is metadata
`;

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
  subject.does('signals processes');
  for (const target of targets) if (target.shape !== '--') judgeTarget(subject, target);
}

function readCall(args: readonly Argument[]): { readonly signal: string; readonly targets: readonly Argument[] } {
  const [{ shape: first } = { shape: '' }, second] = args;
  if (first === '-s' || first === '-n') return { signal: `${first} ${second?.shape ?? ''}`, targets: args.slice(2) };
  // A lone negative number is a process group.
  const hasSignal = /^-(?!-)/.test(first) && args.length > 1;
  return { signal: first, targets: args.slice(hasSignal ? 1 : 0) };
}

function judgeTarget(subject: CommandAnalysis, { value, text, hasSubstitution, isSample }: Argument): void {
  if (value === '-1' || value === '1') subject.does('signals every process, or the first process of the machine', text);
  else if (OWN_JOBS.test(text) || OWN_FILE.test(text)) return;
  else if (value === undefined || hasSubstitution)
    subject.does('signals processes that are known only at run time', text);
  else if (!isSample) judgeNumber(subject, value);
}

function judgeNumber(subject: CommandAnalysis, value: string): void {
  if (/^-\d+$/.test(value)) subject.does('signals a whole group of processes', value);
  else if (isForeign(subject, value)) subject.does('signals a process of others', value);
}

/** Whether a number is not that of a process that the session has started, as far as these are known. */
const isForeign = ({ inquiry: { facts } }: CommandAnalysis, value: string): boolean =>
  facts.ownProcesses !== undefined && /^\d+$/.test(value) && !facts.ownProcesses.has(Number(value));

/** sudo: with -i or -s and no command it starts a shell. A command in its arguments is judged separately. */
const asUser: Takes = (args, known) => {
  const { options, operands } = splitOptions(args, known.options);
  return operands.length === 0 && options.some((option) => /^(?:-[A-Za-z]*[is]|--login|--shell)$/.test(option));
};

const multiplexer: Takes = (args, known) => {
  const { operands } = splitOptions(args, known.options);
  const [subcommand = 'new', ...rest] = operands;
  if (/^(?:a|attach.*)$/.test(subcommand)) return true;
  return /^new/.test(subcommand) && !rest.includes('-d') && !args.some((arg) => /^-[VC]+$/.test(arg));
};

/** `machinectl shell`. */
const machine: Takes = (args) => args.some((arg) => /^(?:shell|login)$/.test(arg));

/** Programs that act on the machine: accounts, services, schedules, disks, network settings, packages of the system. */
export const SYSTEM: ProgramFamily = {
  name: 'system',
  entries: ENTRIES,
  rules: {
    judges: { kill: judgeKill },
    typed: { asUser, machine, multiplexer },
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
  startupPaths: '~/.gnupg/** ~/.screenrc ~/.tmux.conf ~/.config/systemd/** ~/.local/share/systemd/**',
};
