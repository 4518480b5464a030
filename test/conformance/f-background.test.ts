import { expect } from 'vitest';

import { conformance } from './harness/runner.js';
import { alone, run, type Trap } from './harness/table.js';
import { processesWith } from './harness/leftovers.js';
import type { TrapContext } from './harness/context.js';

const isSleep = /^sleep 300\./;
/** Started by setsid, which may not have become it yet. */
const isSleepSoon = /^(?:setsid )?sleep 300\./;
/** Has a job wait for a file in the directory of its row: however long a look at the machine takes, the job is there. */
const WHEN_TOLD = 'until [ -e go ]; do sleep 0.05; done';
const DAEMON_BY_PYTHON = (mark: string) =>
  `python3 -c 'import os,time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
time.sleep(300)' ${mark}`;

async function closeLeavesNothing(trap: TrapContext): Promise<void> {
  await trap.close();
  expect(processesWith(trap.mark), 'at the answer to close_session').toEqual([]);
}

/** The same with a cleared environment, and without a pipe of the command. */
const BARE_DAEMON_BY_PYTHON = (mark: string) =>
  `python3 -c 'import os
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.execve("/bin/sleep", ["sleep", "300.${mark}"], {})' >/dev/null 2>&1`;

/** Jobs that a group signal at the end misses. */
const ESCAPES: Readonly<Record<string, (trap: TrapContext) => string>> = {
  setsid: ({ sleep }) => `setsid ${sleep} &`,
  nohup: ({ sleep }) => `nohup ${sleep} >/dev/null 2>&1 &`,
  subshell: ({ sleep }) => `(${sleep} &)`,
  'double fork': ({ mark }) => DAEMON_BY_PYTHON(mark),
  disown: ({ sleep }) => `${sleep} & disown`,
  'ignored signals': ({ sleep }) => `(trap '' HUP INT TERM; ${sleep}) &`,
  'stopped job': ({ sleep }) => `${sleep} & kill -STOP $!`,
  'setsid -f': ({ sleep }) => `setsid -f ${sleep}`,
  'emptied environment': ({ sleep }) => `env -i ${sleep} &`,
  // Its subshell has ended, it holds no pipe and `$!` is unchanged.
  'hidden in a subshell': ({ sleep }) => `(cd /; set -m; ${sleep} & disown) >/dev/null 2>&1`,
  'silent double fork': ({ sleep }) => `(${sleep} >/dev/null 2>&1 &)`,
  'silent double fork in a session of its own': ({ sleep }) =>
    `(setsid sh -c "(${sleep} &)" >/dev/null 2>&1 &); sleep .3`,
  'silent setsid -f': ({ sleep }) => `setsid -f ${sleep} >/dev/null 2>&1`,
  'double fork with an emptied environment': ({ mark }) => BARE_DAEMON_BY_PYTHON(mark),
  'silent setsid with an emptied environment': ({ sleep }) => `(env -i setsid ${sleep} >/dev/null 2>&1 &)`,
};

const page: Trap[] = [
  {
    id: 'F1',
    title: 'a background job does not hold the answer',
    steps: [
      run((trap) => `${trap.sleep} & echo started`, { stdout: 'started\n', background: [isSleep] }),
      run('kill %1; wait', { stderr: /^/ }),
    ],
  },
  {
    id: 'F3',
    title: 'an endless job ends with its session',
    isClosed: true,
    steps: [run((trap) => `yes ${trap.mark} >/dev/null & echo s`, { stdout: 's\n', background: [/^yes/] })],
    run: closeLeavesNothing,
  },
  ...Object.entries(ESCAPES).map(([how, command], index): Trap => ({
    id: `F5${'abcdefghijklmnop'[index]}`,
    title: `close_session ends a job that left its group: ${how}`,
    isClosed: true,
    steps: [run(command, { background: 'some', stdout: /^/, stderr: /^/, takesMs: 1000 })],
    run: closeLeavesNothing,
  })),
  {
    // Any free port instead of 8081, so that two runs do not meet.
    id: 'F7',
    title: 'a server in the background, then its port is free',
    steps: [
      run(
        `python3 -u -m http.server 0 --bind 127.0.0.1 >log 2>&1 & for i in {1..100}; do grep -q port log && break; sleep 0.1; done
         port=$(grep -o 'port [0-9]*' log); port=\${port#port }`,
        { background: [/http.server/], takesMs: 8000, stderr: /^/ },
      ),
      run('curl -s 127.0.0.1:$port | head -1', { stdout: /^<!DOCTYPE/i, background: [/http.server/] }),
      run('kill %1; wait %1', { exit_code: 143, stderr: /^/ }),
      run('curl -s 127.0.0.1:$port', { exit_code: 7 }),
    ],
  },
  {
    id: 'F9',
    title: 'a thousand short jobs',
    steps: [run('for i in {1..1000}; do true & done; wait', { takesMs: 20_000, stderr: /^/ }), run('jobs', {})],
  },
  {
    // The page's NOT_RUNNING is NO_RUNNING_COMMAND here.
    id: 'F11',
    title: 'a signal for a command that has ended',
    steps: [run('true')],
    run: async (trap) => {
      expect((await trap.signal('SIGTERM')).error?.code).toBe('NO_RUNNING_COMMAND');
      expect((await trap.signal('SIGKILL', 'never-was')).error?.code).toBe('COMMAND_NOT_FOUND');
    },
  },
];

const more: Trap[] = [
  {
    id: 'F2',
    title: 'late output belongs to the command that started it',
    steps: [run(`(${WHEN_TOLD}; echo late) & echo now`, { stdout: 'now\n', background: 'some' }, { stream: true })],
    run: async (trap) => {
      const id = trap.commandId;
      expect((await trap.run('echo other; touch go')).stdout).toBe('other\n');
      await trap.output('late\n', id);
      expect((await trap.wholeOutput(id)).toString()).toBe('now\nlate\n');
      await trap.run('wait');
    },
  },
  {
    id: 'F4',
    title: 'a job that writes 10 MB after its command',
    steps: [
      run(`(${WHEN_TOLD}; head -c 10000000 /dev/zero; echo end) & true`, { background: 'some' }, { stream: true }),
    ],
    run: async (trap) => {
      const id = trap.commandId;
      expect((await trap.run('touch go; wait')).exit_code).toBe(0);
      await trap.output('end\n', id);
      const whole = await trap.wholeOutput(id);
      expect(whole.length).toBe(10_000_004);
    },
  },
  {
    id: 'F6',
    title: 'one-shots do not wait for jobs and leave none',
    steps: [
      alone((trap) => `${trap.sleep} & echo started`, { stdout: 'started\n', background: [isSleep] }),
      alone((trap) => `setsid ${trap.sleep} >/dev/null 2>&1 & echo a`, {
        stdout: 'a\n',
        background: [isSleepSoon],
      }),
      alone((trap) => `(${trap.sleep} &) ; echo b`, { stdout: 'b\n', background: [isSleep] }),
      alone((trap) => `(${trap.sleep} >/dev/null 2>&1 &) ; echo c`, { stdout: 'c\n', background: [isSleep] }),
      alone((trap) => BARE_DAEMON_BY_PYTHON(trap.mark), { background: [isSleep], takesMs: 1000 }),
    ],
  },
  {
    id: 'F8',
    title: 'jobs, fg and bg',
    steps: [
      run((trap) => `${trap.sleep} & jobs`, { stdout: /^\[1\]\+\s+Running/, background: [isSleep] }),
      run('kill %1; wait %1', { exit_code: 143, stderr: /^/ }),
      run('sleep 0.3 & fg', { stdout: /^sleep 0.3\n$/, takesMs: 300, stderr: /^/ }),
      run('jobs', {}),
    ],
  },
  {
    id: 'F10',
    title: 'thirty jobs that hold their output',
    steps: [
      ...Array.from({ length: 30 }, (_, n) =>
        run((trap) => `${trap.sleep} & echo ${n}`, {
          stdout: `${n}\n`,
          background: Array.from({ length: n + 1 }, () => isSleep),
        }),
      ),
      run('kill $(jobs -p); wait', { stderr: /^/ }),
    ],
  },
  {
    id: 'F12',
    title: 'a job that reads the terminal is stopped, not the session',
    steps: [
      run('cat & sleep 0.2; echo on', { stdout: 'on\n', background: [/^cat/], takesMs: 200 }),
      run('kill -KILL %1; wait', { stderr: /^/ }),
    ],
  },
  {
    id: 'F14',
    title: 'monitor mode off and on',
    steps: [
      run((trap) => `set +m; ${trap.sleep} & echo a`, { stdout: 'a\n', background: [isSleep] }),
      run('kill $!; wait; set -m', { stderr: /^/ }),
    ],
  },
];

conformance('F. Background and descendants', [...page, ...more]);
