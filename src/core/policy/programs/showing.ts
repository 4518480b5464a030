import type { Argument } from '../words/argument.js';
import type { ProgramSpec } from '../subject/program-spec.js';

/** Spec of a program that only shows information. */
const READ_ONLY: ProgramSpec = { class: 'read', operands: 'text' };

/** Arguments that each match one of the patterns, in any order; an empty list matches too. */
const any = (...patterns: string[]): RegExp => new RegExp(`^(?:(?:${patterns.join('|')})(?: |$))*$`);

/** One of the given first arguments, followed by any of the others. */
const first = (heads: string, ...others: string[]): RegExp =>
  new RegExp(`^(?:${heads})(?:$| (?:(?:${others.join('|')})(?: |$))*$)`);

/** An operand. */
const WORD = String.raw`(?!-)\S+`;
const NAME = String.raw`[\w@][\w@.:+-]*`;

const NMCLI_OBJECT = '(?:general|g|networking|n|radio|r|connection|con|c|device|dev|d)';

const packets = any(
  '-[LSnvx]+',
  '--list(?:-rules)?',
  '--numeric',
  '--verbose',
  '--line-numbers',
  String.raw`-t \w+`,
  NAME,
);

/**
 * Programs that change the machine, with the arguments for which they only show its state: the usual commands for
 * diagnosis. A pattern matches all arguments, separated by one blank; arguments that match no pattern are judged by the
 * other tables.
 */
const PATTERNS: Readonly<Record<string, RegExp>> = {
  arptables: packets,
  at: /^-(?:l|V)(?: -q \w)?$/,
  auditctl: /^-[lsv]$/,
  blockdev: any(String.raw`--get\w+`, '--report', WORD),
  btrfs: first('filesystem (?:show|df|usage)|subvolume (?:list|show)|device (?:stats|usage)', WORD),
  busctl: first('list|status|tree', NAME, '--user', '--system', '--no-pager'),
  chkconfig: first('--list', NAME),
  chronyc: first('(?:-n )?(?:tracking|sources|sourcestats|activity|ntpdata|serverstats)', '-v'),
  conntrack: any('-[LSC]', '--(?:dump|stats|count)', String.raw`-p \w+`),
  cryptsetup: first('status|luksDump|isLuks', WORD),
  dmsetup: first('ls|info|status|table|deps', NAME, '--tree', '-c'),
  dnf: first('history(?: (?:list|info))?|repolist|module list', WORD, '--all'),
  dpkg: first(
    '-[lLSspVCcI]|--(?:list|listfiles|search|status|print-avail|verify|audit|contents|info|get-selections|print-architecture|version)',
    WORD,
  ),
  e2fsck: first('-n|-fn|-nf|-f -n', WORD),
  ebtables: packets,
  efibootmgr: any('-v', '--verbose'),
  ethtool: new RegExp(`^(?:-[iSkgacmTnxlPe] )?${NAME}$`),
  fdisk: first('-[lx]|--list(?:-details)?', WORD),
  'firewall-cmd': any(
    '--state',
    '--version',
    '--permanent',
    `--zone=${NAME}`,
    String.raw`--(?:list|get|query|info)-[\w-]+(?:=\S+)?`,
  ),
  fsck: first('-N', WORD, '-A', String.raw`-t \w+`),
  hdparm: any('-[IigCtT]+', String.raw`/dev/[\w/]+`),
  hostnamectl: any('--no-pager', '--static', '--transient', '--pretty', '--json=\\w+'),
  hwclock: first('-r|--show|--get', '-v|--verbose', '-u|--utc', '-l|--localtime'),
  ifconfig: new RegExp(`^(?:-[as]|(?:-[asv] )?${NAME})?$`),
  initctl: first('list|status|version', NAME),
  ip6tables: packets,
  iptables: packets,
  ipmitool: first(
    '(?:sdr|sensor|fru)(?: list)?|sel (?:list|elist|info)|chassis (?:power )?status|mc info|lan print',
    NAME,
  ),
  ipset: first('list|-L|--list', NAME, '-[nt]'),
  iw: new RegExp(`^(?:list|phy|reg get|dev(?: ${NAME} (?:info|link|station dump))?)$`),
  iwconfig: new RegExp(`^(?:${NAME})?$`),
  launchctl: first('list|print|blame|print-disabled', WORD),
  localectl: any('--no-pager'),
  loginctl: any('--no-pager', '--no-legend'),
  losetup: any(
    '-[alnJ]+',
    '--(?:all|list|noheadings|json|raw)',
    String.raw`-O [\w,-]+`,
    String.raw`--output[= ][\w,-]+`,
  ),
  mdadm: first('--(?:detail|examine|query)|-[DEQ]', WORD, '--(?:scan|brief|verbose)', '-[sbv]+'),
  mount: any('-[lv]', '--show-labels', '--verbose', String.raw`(?:-t|--types) [\w,.-]+`),
  mysqladmin: any(
    'status|ping|version|extended-status|processlist|variables',
    String.raw`-[hPu] ?[\w.-]+`,
    String.raw`--(?:host|port|user)=[\w.-]+`,
  ),
  netplan: first('get|status|info', NAME),
  networkctl: new RegExp(`^(?:(?:list|status|lldp)(?: ${NAME})*)?$`),
  nmcli: new RegExp(`^(?:(?:-[tp]|-f \\S+) )*(?:${NMCLI_OBJECT}(?: (?:status|show)(?: ${NAME})*| wifi list)?)?$`),
  ntpdate: first('-q', NAME),
  nvme: first('list(?:-subsys)?|smart-log|id-ctrl|id-ns|error-log', WORD),
  pacman: first('-(?:Q[a-z]*|S[si]+)', WORD),
  parted: /^(?:-[lm]+|--list|(?:-[sm]+ )*(?!-)\S+ print(?: free| all)?)$/,
  passwd: new RegExp(`^(?:-S|--status)(?: ${NAME}| -a| --all)?$`),
  resolvectl: new RegExp(`^(?:(?:status|statistics|query|service)(?: ${NAME})*)?$`),
  route: any('-[neve46]+', '--numeric', '--extend', '-A inet6?'),
  rpm: first(
    '-q[a-z]*|--query|-V[a-z]*|--verify',
    WORD,
    '-[a-z]*',
    '--(?:all|list|info|last|changelog|requires|provides|scripts|configfiles|docfiles|state|whatprovides|whatrequires|file)',
  ),
  screen: new RegExp(`^-(?:ls|list|v)(?: ${NAME})?$`),
  service: new RegExp(`^(?:${NAME} status|--status-all)$`),
  sfdisk: first('-[ldJV]|--(?:list|dump|json|verify)', WORD),
  sgdisk: first('-[pv]|--print|--verify', WORD),
  supervisorctl: first('status|avail|pid|version', WORD),
  swapon: any('-s', '--summary', String.raw`--show(?:=[\w,]+)?`, '--(?:noheadings|raw|bytes|verbose)'),
  sysctl: any(
    '-[aAneNbX]+',
    '--(?:all|names|values|ignore)',
    String.raw`(?:-r|--pattern) [\w.^$*\\-]+`,
    String.raw`(?!-)[\w./*-]+`,
  ),
  systemctl: any(
    '--(?:failed|all|no-pager|no-legend|plain|full|user|system|quiet)',
    '-[alq]+',
    String.raw`(?:-t |--type[= ])[\w,]+`,
    String.raw`--state[= ][\w,-]+`,
  ),
  tc: new RegExp(
    `^(?:-(?:[sdrpnj]|stat(?:istic)?s|details|raw|pretty) )*(?:qdisc|class|filter)(?: (?:show|list|ls|dev ${NAME}|parent ${NAME}))*$`,
  ),
  timedatectl: any('--no-pager'),
  tmux: first('ls|list-(?:sessions|windows|panes|clients)|ls[wpc]', '-[as]', `-t ${NAME}`),
  tune2fs: first('-l', WORD),
  'update-alternatives': first('--(?:list|display|query|get-selections)', NAME),
  zfs: first('list|get|holds', WORD, String.raw`-[rHpd]+`, String.raw`-[ots] [\w,:.-]+`),
  zpool: first('status|list|iostat|history|get', WORD, '-[vxHpPLTgil]+', String.raw`-o [\w,]+`),
};

/** Spec of a program whose arguments only show information; undefined when that is not certain. */
export function findShowing(program: string, args: readonly Argument[]): ProgramSpec | undefined {
  const pattern = Object.hasOwn(PATTERNS, program) ? PATTERNS[program] : undefined;
  if (!pattern || !args.every(isPlain)) return undefined;
  return pattern.test(args.map(({ value }) => value).join(' ')) ? READ_ONLY : undefined;
}

/** Known, a single word, and never an option. */
const isPlain = ({ value, isGlob }: Argument): boolean =>
  value !== undefined && value !== '' && !/\s/.test(value) && !(isGlob && /^[*?[+@!]/.test(value));
