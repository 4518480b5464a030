import { readdirSync, readFileSync } from 'node:fs';

import { rounds } from '../../support/rounds.js';

/** How often each command has to tell what it leaves: a matter of luck shows in so many. */
export const ROUNDS = rounds(5, 2);

const python = (forks: string) => (seconds: string) =>
  `python3 -c 'import os
${forks}
os.execve("/bin/sleep", ["sleep", "${seconds}"], {})' >/dev/null 2>&1`;
const DOUBLE_FORK = 'if os.fork(): os._exit(0)\nos.setsid()\nif os.fork(): os._exit(0)';

/** Commands that leave a `sleep` behind, each by another way out of what a shell keeps together. */
export const WAYS: Readonly<Record<string, (seconds: string) => string>> = {
  'a job': (seconds) => `sleep ${seconds} >/dev/null 2>&1 &`,
  'a job of a subshell': (seconds) => `(sleep ${seconds} &)`,
  'a silent job of a subshell': (seconds) => `(sleep ${seconds} >/dev/null 2>&1 &)`,
  nohup: (seconds) => `nohup sleep ${seconds} >/dev/null 2>&1 &`,
  'setsid -f': (seconds) => `setsid -f sleep ${seconds} >/dev/null 2>&1`,
  'a double fork in a session of its own': (seconds) => `setsid -w sh -c "(sleep ${seconds} &)" >/dev/null 2>&1`,
  'an emptied environment in a session of its own': (seconds) => `(env -i setsid sleep ${seconds} >/dev/null 2>&1 &)`,
  'a daemon by python that has emptied its environment': python(DOUBLE_FORK),
};

/** Whether any process of the machine has this argument. */
export const runs = (seconds: string) =>
  readdirSync('/proc').some((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(seconds);
    } catch {
      // It has ended.
      return false;
    }
  });

let made = 0;

/** A time to sleep, in seconds, that tells its process from all others. */
export const nextSeconds = (): string => `300.${process.pid}${String((made += 1)).padStart(4, '0')}`;
