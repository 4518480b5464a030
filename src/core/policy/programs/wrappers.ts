import type { CommandClass } from '../model/classes.js';
import { each, type OptionSpec, valued } from '../subject/program-spec.js';

/** A program that runs another program, given in its arguments. */
export interface WrapperSpec {
  /** Class of the wrapper's own effect, beyond the program it runs. */
  readonly class?: CommandClass;
  readonly reason?: string;
  readonly options?: Readonly<Record<string, OptionSpec>>;
  /** Number of operands before the command. */
  readonly skips?: number;
  /** The skipped operands are names of files that it creates; numbers are file descriptors. */
  readonly writesSkipped?: boolean;
  /** `NAME=value` may precede the command. */
  readonly takesVariables?: boolean;
  /** The words are joined and interpreted by a shell. */
  readonly isJoined?: boolean;
  /** It appends words from its input or another source. */
  readonly addsWords?: boolean;
  /** Words after a match are added inputs, not part of the command. */
  readonly inputsBehind?: RegExp;
  /** The command runs in an unknown directory. */
  readonly isElsewhere?: boolean;
  /** Its input is sent to another machine. */
  readonly sendsInput?: boolean;
  /** Class of its effect without a command. */
  readonly bare?: CommandClass;
  /** Options may follow operands, and none of these is a command. */
  readonly hasNoCommand?: boolean;
  /** Options that make it run the command in another directory. */
  readonly changesDirectory?: readonly string[];
  /** Options with which it runs no command. */
  readonly asks?: readonly string[];
}

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

const container: WrapperSpec = {
  class: 'execute',
  skips: 1,
  isElsewhere: true,
  options: valued('-e -u -w --env --user --workdir --env-file --detach-keys -n --namespace -c --container --index'),
};

const HYPERFINE: WrapperSpec['options'] = {
  ...each('-p -s -c --prepare --setup --cleanup --conclude', { value: 'shell' }),
  ...valued(
    '-w -r -m -M -S -P -D -L -N -u --warmup --runs --min-runs --max-runs --shell --export-json --export-markdown',
  ),
};

const runner: WrapperSpec = { class: 'execute' };

/** Settings of ssh that run no program and write no file. Source: ssh_config(5). */
const SSH_SETTING =
  /^(?:(?:AddressFamily|BatchMode|Ciphers|Compression|Connect\w+|Host(?:Key|Name)\w*|IdentitiesOnly|Kex\w+|LogLevel|MACs|NumberOfPasswordPrompts|P(?:assword|ubkey)Authentication|Port|Preferred\w+|RequestTTY|ServerAlive\w+|StrictHostKeyChecking|TCPKeepAlive|User)[= ][\w.,@+:-]+|(?:Global|User)KnownHostsFile[= ]\/dev\/null)$/i;

const ssh: WrapperSpec = {
  class: 'network',
  reason: 'runs commands on another machine',
  sendsInput: true,
  skips: 1,
  isJoined: true,
  isElsewhere: true,
  options: {
    ...valued('-b -B -c -D -e -i -I -J -l -L -m -O -p -Q -R -S -w -W'),
    ...each('-o -F', {
      class: 'obfuscated',
      reason: 'may have ssh run programs here',
      value: 'text',
      harmless: SSH_SETTING,
    }),
    ...each('-E', { value: 'write' }),
    ...each('-R', { class: 'exfiltration', reason: 'opens this machine to another one', value: 'text' }),
  },
};

const npmExec: WrapperSpec = {
  class: 'network',
  options: { ...each('-c --call', { value: 'shell' }), ...valued('-p --package -w') },
};

/** Programs that run others: keyed by name, or by name and first operand, separated by a blank. */
export const WRAPPERS: Readonly<Record<string, WrapperSpec>> = {
  ...each('nohup setsid fakeroot unbuffer caffeinate catchsegv noglob nocorrect - rlwrap dbus-run-session', {}),
  builtin: {},
  command: { asks: ['-v', '-V'] },
  exec: { options: valued('-a') },
  nice: { options: valued('-n --adjustment') },
  ionice: { options: valued('-c -n -p -P -u --class --classdata') },
  chrt: { skips: 1, options: valued('-T -P -D') },
  taskset: { skips: 1 },
  timeout: { skips: 1, options: valued('-k -s --kill-after --signal') },
  time: { options: { ...valued('-f --format'), ...each('-o --output', { value: 'write' }) } },
  stdbuf: { options: valued('-i -o -e --input --output --error') },
  repeat: { skips: 1 },
  env: {
    takesVariables: true,
    options: {
      ...each('-S --split-string', { value: 'shell' }),
      ...valued('-u -C --unset --chdir -a --argv0'),
    },
    changesDirectory: ['-C', '--chdir'],
    bare: 'read',
  },
  xargs: {
    addsWords: true,
    bare: 'read',
    options: {
      ...valued('-I -n -P -L -d -E -s -R -J -S --max-args --max-procs --delimiter --max-chars'),
      ...each('-a --arg-file', { value: 'read' }),
    },
  },
  parallel: {
    changesDirectory: ['--wd', '--workdir'],
    inputsBehind: /^:::?:?\+?$/,
    // Without a command, it runs the lines that it reads.
    bare: 'obfuscated',
    isJoined: true,
    addsWords: true,
    options: {
      ...valued(
        '-j -I -N -n -L -a -S -C --wd --workdir --jobs --arg-file --sshlogin --colsep --delay --timeout --retries --results',
      ),
      ...each('-S --sshlogin --slf --sshloginfile', { class: 'network', value: 'text' }),
      ...each('--rpl --filter --limit', { class: 'obfuscated', reason: 'runs code', value: 'text' }),
      ...each('--results --joblog', { value: 'write' }),
    },
  },
  watch: { isJoined: true, options: valued('-n --interval -q --equexit') },
  entr: { addsWords: true, class: 'execute' },
  ...each('busybox toybox', {
    bare: 'read',
    options: each('--install', { class: 'persistence', reason: 'puts programs in their places' }),
  }),
  ...each('sudo doas', sudo),
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
  ...each('bwrap firejail proot', { class: 'execute', isElsewhere: true }),
  prlimit: { options: valued('-p --pid') },
  ...each('strace ltrace', {
    class: 'execute',
    options: { ...valued('-e -s -p -u -E -P -a -S -I -b'), ...each('-o --output', { value: 'write' }) },
  }),
  perf: { class: 'execute', skips: 1 },
  flock: {
    skips: 1,
    writesSkipped: true,
    options: { ...each('-c --command', { value: 'shell' }), ...valued('-w -E --timeout --conflict-exit-code') },
  },
  script: {
    class: 'write',
    bare: 'execute',
    options: { ...each('-c --command', { value: 'shell' }), ...valued('-O -I -B -T -E') },
  },
  'xvfb-run': { class: 'execute', options: valued('-e -f -n -p -s -w --server-args --server-num') },
  ssh,
  ...each('mosh autossh', { ...ssh, hasNoCommand: false }),
  sshpass: { class: 'network', options: valued('-p -f -d -P') },
  'ssh-agent': { class: 'execute', options: valued('-a -t -E -O -P'), bare: 'execute' },
  ...each('numactl valgrind chpst softlimit choom uclampset chronic ifne tsp nq daemonize watchexec linux32 linux64', {
    class: 'execute',
  }),
  ...each('logsave faketime runcon cgexec', { class: 'execute', skips: 1 }),
  'docker exec': container,
  'podman exec': container,
  'nerdctl exec': container,
  'crictl exec': container,
  'podman unshare': runner,
  'kubectl exec': container,
  'oc exec': container,
  'lxc exec': container,
  'docker-compose exec': container,
  'docker-compose run': container,
  'nix-shell --run': { class: 'execute', isJoined: true },
  'nix-shell --command': { class: 'execute', isJoined: true },
  'entr -s': { class: 'execute', isJoined: true },
  'vagrant ssh': { class: 'network', options: each('-c --command', { value: 'shell' }), bare: 'network' },
  'uv run': {
    class: 'execute',
    options: valued(
      '--with --with-editable --with-requirements --extra --group --python -p --project --directory --env-file',
    ),
  },
  'conda run': { class: 'execute', options: valued('-n -p --name --prefix --cwd') },
  'poetry run': { class: 'execute', options: valued('-C -P --directory --project') },
  'pdm run': { class: 'execute', options: valued('-p --project') },
  ...each('hyperfine', { class: 'execute', isJoined: true, options: HYPERFINE }),
  'gdb --args': runner,
  'lldb --': runner,
  'pipenv run': runner,
  'hatch run': runner,
  'bundle exec': runner,
  'rbenv exec': runner,
  'pyenv exec': runner,
  'asdf exec': runner,
  'yarn exec': runner,
  'pnpm exec': runner,
  'direnv exec': { class: 'execute', skips: 1 },
  'npm exec': npmExec,
  'npm x': npmExec,
  'pnpm dlx': npmExec,
  'yarn dlx': npmExec,
  'bun x': npmExec,
  'npm explore': { class: 'execute', skips: 1 },
  'cmake -E': { class: 'execute' },
  // Subcommands of `cmake -E`.
  chdir: { skips: 1, isElsewhere: true },
  npx: { class: 'network', options: { ...each('-c --call', { value: 'shell' }), ...valued('-p --package') } },
  ...each('bunx pnpx uvx', { class: 'network', options: valued('--from --with -p') }),
};
