import { type ProgramExamples, type ProgramFamily, typedShell, unless, type WrapperTable } from '../program-family.js';
import { each, valued } from '../subject/program-spec.js';

/** Commands of this family, by class. */
const EXAMPLES: ProgramExamples = {
  read: ['/usr/bin/time ls', 'nohup ls', 'prlimit ls'],
  execute: ['chrt ls', 'taskset ls', 'perf ls', 'flock -x 9', 'xvfb-run ls', 'logsave ls'],
  interactive: ['script'],
  destructive: [
    'setsid rm x',
    'nice rm x',
    'ionice -c 3 rm x',
    'timeout 5 rm x',
    'stdbuf -oL rm x',
    'env A=b rm x',
    'parallel rm ::: x',
    'watch rm x',
    'entr rm',
    "entr -s 'rm x'",
    'busybox rm x',
    'bwrap --dev-bind / / rm -rf x',
    'strace -f rm x',
    'numactl rm x',
    "hyperfine -w 3 'rm x' ls",
  ],
  obfuscated: ['xargs sh -c'],
};

/** Programs that run others on this machine, as the same user. */
const WRAPPERS: WrapperTable = {
  ...each('nohup setsid fakeroot unbuffer caffeinate catchsegv rlwrap dbus-run-session', {}),
  nice: { options: valued('-n --adjustment') },
  ionice: { options: valued('-c -n -p -P -u --class --classdata') },
  chrt: { skips: 1, options: valued('-T -P -D') },
  taskset: { skips: 1 },
  timeout: { skips: 1, options: valued('-k -s --kill-after --signal') },
  time: { options: { ...valued('-f --format'), ...each('-o --output', { value: 'write' }) } },
  stdbuf: { options: valued('-i -o -e --input --output --error') },
  env: {
    takesVariables: true,
    takesDash: true,
    continuesText: true,
    options: {
      ...each('-S --split-string', { value: 'shell' }),
      ...each('-u --unset', {
        class: 'obfuscated',
        reason: 'takes away what protects git in checkouts',
        value: 'text',
        harmless: /^(?!GIT_|HOME$|XDG_)/,
      }),
      ...valued('-C --chdir -a --argv0'),
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
  'entr -s': { class: 'execute', isJoined: true },
  ...each('busybox toybox', {
    bare: 'read',
    options: each('--install', { class: 'persistence', reason: 'installs programs' }),
  }),
  ...each('bwrap firejail proot', { class: 'execute', isElsewhere: true }),
  prlimit: { options: valued('-p --pid') },
  ...each('strace ltrace', {
    class: 'execute',
    options: {
      ...valued('-e -s -u -E -P -a -S -I -b'),
      ...each('-p --attach', { class: 'exfiltration', reason: 'reads what a process does', value: 'text' }),
      ...each('-o --output', { value: 'write' }),
    },
  }),
  perf: { class: 'execute', skips: 1 },
  flock: {
    skips: 1,
    writesSkipped: true,
    options: { ...each('-c --command', { value: 'shell' }), ...valued('-w -E --timeout --conflict-exit-code') },
  },
  // The first operand is the record; in other systems than Linux a command may follow.
  script: {
    class: 'write',
    bare: 'execute',
    skips: 1,
    writesSkipped: true,
    runsInput: true,
    options: { ...each('-c --command', { value: 'shell' }), ...valued('-O -I -B -T -E') },
  },
  'xvfb-run': { class: 'execute', options: valued('-e -f -n -p -s -w --server-args --server-num') },
  ...each('numactl valgrind chpst softlimit choom uclampset chronic ifne tsp nq daemonize watchexec linux32 linux64', {
    class: 'execute',
  }),
  ...each('logsave faketime runcon cgexec', { class: 'execute', skips: 1 }),
  ...each('hyperfine', {
    class: 'execute',
    isJoined: true,
    options: {
      ...each('-p -s -c --prepare --setup --cleanup --conclude', { value: 'shell' }),
      ...valued(
        '-w -r -m -M -S -P -D -L -N -u --warmup --runs --min-runs --max-runs --shell --export-json --export-markdown',
      ),
    },
  }),
};

/** Programs that run another program, and change only its circumstances: time, priority, input, environment. */
export const LAUNCHERS: ProgramFamily = {
  name: 'launchers',
  wrappers: WRAPPERS,
  typing: { script: typedShell(unless(/^(?:-[a-z]*c|--command.*)$/)) },
  traits: { runnable: 'xargs env' },
  examples: EXAMPLES,
};
