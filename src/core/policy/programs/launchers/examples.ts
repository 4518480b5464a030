import type { ProgramExamples } from '../../family/program-family.js';

/** Commands of this family, by class. */
export const EXAMPLES: ProgramExamples = {
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
