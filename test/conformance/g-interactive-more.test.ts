import { expect } from 'vitest';

import { INTERRUPTED, interrupt, interrupted, keys } from './harness/actions.js';
import { processesWith } from './harness/leftovers.js';
import { conformance } from './harness/runner.js';
import { alone, oneOf, run, runWhile, type Trap } from './harness/table.js';
import { eventually } from '../support/measure.js';

const more: Trap[] = [
  interrupted('G2a', 'while :; do :; done'),
  interrupted('G2b', 'f() { while :; do sleep 0.05; done; }; f'),
  interrupted('G2h', 'while :; do /bin/true; done'),
  interrupted('G2c', 'bash -c "sleep 30"; echo no'),
  interrupted('G2d', 'yes >/dev/null'),
  interrupted('G2e', 'sleep 30 && echo no; echo no'),
  interrupted('G2f', 'wait $(sleep 30)'),
  interrupted('G2g', 'until false; do read -t 0.1 x; done'),
  {
    id: 'G4',
    title: 'Ctrl-C typed as input',
    steps: [
      runWhile(
        ({ sleep }) => `echo go; ${sleep}`,
        async (trap) => {
          await trap.output('go\n');
          // Between fork and exec a key reaches neither the shell nor the program, as at any terminal.
          await eventually(() => {
            expect(processesWith(trap.sleep.replace(' ', '\0')).length).toBe(1);
          });
          await trap.input('\x03');
        },
        { stdout: 'go\n', exit_code: 130, status: oneOf('completed', 'interrupted'), killed_by: oneOf(null, 'signal') },
      ),
    ],
  },
  {
    id: 'G6',
    title: 'typed text that nobody read does not reach the next command',
    steps: [
      runWhile(
        'echo go; sleep 0.5',
        async (trap) => {
          await trap.output('go\n');
          await trap.input('echo injected\nexit\n');
        },
        { stdout: 'go\n', takesMs: 500 },
      ),
      run('read -t 0.3 x; echo "<$x>"', { stdout: '<>\n', takesMs: 300 }),
    ],
  },
  {
    id: 'G8',
    title: 'a program leaves the terminal raw',
    steps: [
      run('stty raw -echo'),
      run('echo a', { stdout: 'a\n' }),
      runWhile('read -r x; echo "<$x>"', keys('typed\n'), { stdout: '<typed>\n' }),
      run('stty -isig -icanon min 0; stty intr undef; echo b', { stdout: 'b\n' }),
      runWhile('echo go; sleep 30', interrupt, { ...INTERRUPTED, stdout: 'go\n' }),
      run('stty sane'),
    ],
  },
  {
    id: 'G10',
    title: 'Ctrl-Z does not lose the session',
    steps: [
      runWhile(
        (trap) => `echo go; ${trap.sleep}; echo after`,
        async (trap) => {
          await trap.output('go\n');
          await trap.input('\x1a');
        },
        {
          stdout: /^go\n(after\n)?$/,
          stderr: /^/,
          exit_code: oneOf(0, 148, 124),
          status: oneOf('completed', 'timed_out'),
          killed_by: oneOf(null, 'timeout'),
          background: 'any',
          takesMs: 8000,
        },
        { timeout_ms: 4000 },
      ),
      run('kill -KILL %1 2>/dev/null; wait 2>/dev/null; true', { stderr: /^/ }),
    ],
  },
  {
    id: 'G12',
    title: 'a child that is stopped ends at the time-out',
    steps: [
      run(
        (trap) => `bash -c 'kill -STOP $$; ${trap.sleep}'; echo $?`,
        {
          stdout: /^(\d+\n)?$/,
          stderr: /^/,
          exit_code: oneOf(0, 124),
          status: oneOf('completed', 'timed_out'),
          killed_by: oneOf(null, 'timeout'),
          background: 'any',
          takesMs: 4500,
        },
        { timeout_ms: 1500 },
      ),
      run('kill -KILL %1 2>/dev/null; wait 2>/dev/null; true', { stderr: /^/ }),
    ],
  },
  {
    id: 'G14',
    title: 'a REPL by input',
    steps: [
      runWhile(
        'python3 -q -i',
        async (trap) => {
          await trap.awaitInput();
          await trap.input('print(6*7)\n');
          await trap.output('42\n');
          await trap.input('exit(3)\n');
        },
        { stdout: /42\n/, stderr: /^/, exit_code: 3 },
      ),
      runWhile(
        'bash --norc -i 2>/dev/null',
        async (trap) => {
          await trap.awaitInput();
          await trap.input('echo inner\nexit 4\n');
        },
        { stdout: /inner\n/, stderr: /^/, exit_code: 4 },
      ),
    ],
  },
  {
    id: 'G16',
    title: 'select, read with a prompt, and a password program',
    steps: [
      runWhile('select x in a b; do echo "<$x>"; break; done', keys('2\n'), {
        stdout: '<b>\n',
        stderr: '1) a\n2) b\n#? ',
      }),
      runWhile('read -p "name? " n; echo "hi $n"', keys('Ann\n'), { stdout: 'hi Ann\n', stderr: 'name? ' }),
      runWhile(`python3 -c 'import getpass; print(len(getpass.getpass()))'`, keys('12345\n'), { stdout: '5\n' }),
    ],
  },
  {
    id: 'G18',
    title: 'input for an idle session, a wrong session, a one-shot',
    steps: [run('true')],
    run: async ({ client, sessionId }) => {
      const idle = await client.request('send_input', { session_id: sessionId, data: 'x\n' });
      const unknown = await client.request('send_input', { session_id: 'nope', data: 'x\n' });
      expect([idle.error?.code, unknown.error?.code]).toEqual(['NO_RUNNING_COMMAND', 'SESSION_NOT_FOUND']);
    },
  },
  {
    id: 'G20',
    title: 'a terminal for a program that wants one',
    steps: [
      run('[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo tty', { stdout: 'tty\r\n' }, { tty: true }),
      run('[ -t 0 ]; echo $?; [ -t 1 ]; echo $?', { stdout: '0\n1\n' }),
      run('tput cols; echo e >&2; exit 3', { stdout: /^200\r\ne\r\n$/, exit_code: 3 }, { tty: true }),
      alone(
        '[ -t 1 ] && echo tty',
        { stdout: 'tty\r\n', session_state: oneOf(null, 'alive', 'closed') },
        { tty: true },
      ),
    ],
  },
];

conformance('G. stdin, signals, interactive: more', more);
