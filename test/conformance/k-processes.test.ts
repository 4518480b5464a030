import { expect } from 'vitest';

import { conformance } from './harness/runner.js';
import { HASTY, stillWorks } from './harness/hostile.js';
import { alone, oneOf, run, type Trap } from './harness/table.js';

const ZOMBIES = `python3 -c 'import os,time
for _ in range(200):
    if os.fork() == 0: os._exit(0)
time.sleep(0.3)'`;
const ORPHANS = `python3 -c 'import os
for _ in range(150):
    if os.fork() == 0:
        if os.fork() == 0: os._exit(0)
        os._exit(0)
for _ in range(150): os.wait()'`;

const processes: Trap[] = [
  {
    id: 'K30',
    title: 'three hundred jobs',
    steps: [
      run(({ sleep }) => `for i in {1..300}; do ${sleep} & done; echo started`, {
        stdout: 'started\n',
        background: 'some',
        takesMs: 8000,
      }),
      run('jobs -p | wc -l; echo ok', { stdout: '300\nok\n', background: 'some' }),
      run('kill $(jobs -p); wait; echo ended', { stdout: 'ended\n', stderr: /^/, takesMs: 5000 }),
      run('jobs', {}),
    ],
  },
  {
    id: 'K31',
    title: 'wait -n and wait -p',
    steps: [
      run('(sleep 0.1; exit 3) & (sleep 5; exit 4) & wait -n; echo $?; kill %2; wait; jobs', {
        stdout: '3\n',
        stderr: /^/,
        takesMs: 500,
      }),
      run('(exit 7) & wait -n -p id; echo $? $((id == $!))', { stdout: '7 1\n', stderr: /^/ }),
      run('wait -n', { exit_code: 127 }),
    ],
  },
  {
    id: 'K32',
    title: 'storms of zombies and orphans',
    steps: [
      run(ZOMBIES, { takesMs: 4000 }),
      run(ORPHANS, { takesMs: 4000 }),
      alone(ZOMBIES, { takesMs: 4000 }),
      run('for i in {1..200}; do (:) & done; wait', { takesMs: 5000, stderr: /^/ }),
    ],
  },
  {
    id: 'K33',
    title: 'coprocesses, one after the other and left running',
    probe: (word) => run(`echo ${word}`, { stdout: `${word}\n`, background: 'some' }),
    steps: [
      run('coproc A { cat; }; echo a >&${A[1]}; read -r x <&${A[0]}; echo $x', {
        stdout: 'a\n',
        stderr: /^/,
        background: 'some',
      }),
      run('echo b >&${A[1]}; read -r x <&${A[0]}; echo $x', { stdout: 'b\n', background: 'some' }),
      run('exec {A[1]}>&-; wait $A_PID; echo $?', { stdout: '0\n', stderr: /^/ }),
      run(({ sleep }) => `coproc ${sleep}; echo on`, { stdout: 'on\n', stderr: /^/, background: 'some' }),
    ],
  },
  {
    id: 'K34',
    title: 'process substitutions left running',
    probe: (word) => run(`echo ${word}`, { stdout: `${word}\n`, background: 'some' }),
    steps: [
      run(({ sleep }) => `echo x > >(cat >/dev/null; ${sleep}); echo on`, { stdout: 'on\n', background: 'some' }),
      run(({ sleep }) => `exec {p}< <(echo first; ${sleep}); read -r x <&$p; echo $x`, {
        stdout: 'first\n',
        background: 'some',
      }),
      run('exec {p}<&-; echo on', { stdout: 'on\n', background: 'some' }),
    ],
  },
  {
    id: 'K35',
    title: 'an asynchronous job that prints for ever into an ended command',
    steps: [
      run(({ mark }) => `while :; do echo ${mark}; sleep 0.01; done & echo on`, {
        stdout: new RegExp('^(\\d+\\n)*on\\n(\\d+\\n)*$'),
        background: 'some',
      }),
      ...Array.from({ length: 10 }, (_, n) => run(`echo ${n}`, { stdout: `${n}\n`, background: 'some' })),
      run('kill %1; wait', { stderr: /^/ }),
    ],
  },
  {
    id: 'K36',
    title: 'a job that kills its shell’s children, and one that signals its group',
    steps: [
      run('trap "" USR1; (kill -USR1 0) ; echo $?; trap - USR1', { stdout: '0\n', stderr: /^/ }),
      run('(kill 0); echo $?', {
        stdout: /^\d*\n?$/,
        exit_code: oneOf(0, 130, 143),
        stderr: /^/,
        status: oneOf('completed', 'interrupted'),
      }),
      stillWorks(),
    ],
  },
  {
    id: 'K37',
    title: 'suspend',
    restarts: oneOf(0, 1),
    steps: [
      run(
        'suspend -f; echo on',
        {
          stdout: /^(on\n)?$/,
          stderr: /^/,
          exit_code: expect.any(Number) as number,
          status: oneOf('completed', 'timed_out'),
          killed_by: oneOf(null, 'timeout'),
          session_state: oneOf('alive', 'restarted'),
          takesMs: 5000,
        },
        { timeout_ms: 1000 },
      ),
      stillWorks(),
    ],
  },
];

conformance('K. Hostile: processes', processes, HASTY);
