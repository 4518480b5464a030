import type { ProgramFamily } from '../program-catalog.js';

const ENTRIES = String.raw`
nohup setsid fakeroot unbuffer caffeinate catchsegv rlwrap dbus-run-session: read
  runs
  e.g. nohup ls: read; setsid rm x: destructive
nice: read
  runs
  -n --adjustment = text
  e.g. nice rm x: destructive
ionice: read
  runs
  -c -n -p -P -u --class --classdata = text
  e.g. ionice -c 3 rm x: destructive
chrt: read
  runs after 1
  -T -P -D = text
  e.g. chrt ls: execute
taskset: read
  runs after 1
  e.g. taskset ls: execute
timeout: read
  runs after 1
  -k -s --kill-after --signal = text
  e.g. timeout 5 rm x: destructive
time: read
  runs
  -f --format = text
  -o --output = write
  e.g. /usr/bin/time ls: read
stdbuf: read
  runs
  -i -o -e --input --output --error = text
  e.g. stdbuf -oL rm x: destructive
env: read
  runs variables, dash, continues-text, bare read, directory -C --chdir
  -S --split-string = shell
  -u --unset = text ! obfuscated takes away what protects git in checkouts unless /^(?!GIT_|HOME$|XDG_)/
  -C --chdir -a --argv0 = text
  is runnable
  e.g. env A=b rm x: destructive
xargs: read
  runs adds-words, bare read
  -I -n -P -L -d -E -s -R -J -S --max-args --max-procs --delimiter --max-chars = text
  -a --arg-file = read
  -i --replace =? text
  -0 --null
  is runnable
  e.g. xargs sh -c: obfuscated; xargs --replace sh -c {}: obfuscated
parallel: read
  runs joined, adds-words, inputs-behind /^:::?:?\+?$/, bare obfuscated, directory --wd --workdir
  -j -I -N -n -L -a = text
  -S = text ! network
  -C --wd --workdir --jobs --arg-file = text
  --sshlogin = text ! network
  --colsep --delay --timeout --retries = text
  --results = write
  --slf --sshloginfile = text ! network
  --rpl --filter --limit = text ! obfuscated runs code
  --joblog = write
  e.g. parallel rm ::: x: destructive
watch: read
  runs joined
  -n --interval -q --equexit = text
  e.g. watch rm x: destructive
entr: execute
  runs adds-words
  -s: execute
    runs joined
  e.g. entr rm: destructive; entr -s 'rm x': destructive
busybox toybox: read
  runs bare read
  --install ! persistence installs programs
  e.g. busybox rm x: destructive
bwrap firejail proot: execute
  runs elsewhere
  e.g. bwrap --dev-bind / / rm -rf x: destructive
prlimit: read
  runs
  -p --pid = text
  e.g. prlimit ls: read
strace ltrace: execute
  runs
  -e -s -u -E -P -a -S -I -b = text
  -p --attach = text ! exfiltration reads what a process does
  -o --output = write-or-pipe
  e.g. strace -f rm x: destructive
perf logsave faketime runcon cgexec: execute
  runs after 1
  e.g. perf ls: execute; logsave ls: execute
flock: read
  runs after 1, writes-skipped
  -c --command = shell
  -w -E --timeout --conflict-exit-code = text
  e.g. flock -x 9: execute
script: write
  runs after 1, writes-skipped, runs-input, bare execute
  -c --command = shell
  -O -I -B -T -E = text
  typed shell unless /^(?:-[a-z]*c|--command.*)$/
  e.g. script: interactive
xvfb-run: execute
  runs
  -e -f -n -p -s -w --server-args --server-num = text
  e.g. xvfb-run ls: execute
numactl valgrind chpst softlimit choom uclampset chronic ifne tsp nq daemonize watchexec linux32 linux64: execute
  runs
  e.g. numactl rm x: destructive
hyperfine: execute
  runs joined
  -p -s -c --prepare --setup --cleanup --conclude = shell
  -w -r -m -M -S -P -D -L -N -u --warmup --runs --min-runs --max-runs --shell --export-json --export-markdown = \
      text
  e.g. hyperfine -w 3 'rm x' ls: destructive
`;

/** Programs that run another program, and change only its circumstances: time, priority, input, environment. */
export const LAUNCHERS: ProgramFamily = {
  name: 'launchers',
  entries: ENTRIES,
};
