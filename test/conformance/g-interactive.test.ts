import { expect } from 'vitest';

import { interrupted } from './harness/actions.js';
import { conformance } from './harness/runner.js';
import { alone, oneOf, run, runWhile, type Trap } from './harness/table.js';

const page: Trap[] = [
  {
    id: 'G1',
    title: 'a read from the terminal is told, and ends by end of input or time-out',
    steps: [
      runWhile(
        'cat',
        async (trap) => {
          await trap.awaitInput();
          await trap.input('', true);
        },
        { stdout: '' },
      ),
      run(
        'cat',
        { exit_code: 124, status: 'timed_out', killed_by: 'timeout', takesMs: 3500 },
        { no_output_timeout_ms: 1000 },
      ),
      alone('cat', {}),
    ],
  },
  {
    id: 'G3',
    title: 'two inputs',
    steps: [
      runWhile(
        `python3 -c 'print(input("a?")+input("b?"))'`,
        async (trap) => {
          await trap.awaitInput();
          await trap.input('x\n');
          await trap.input('y\n');
        },
        { stdout: /xy\n$/ },
      ),
    ],
  },
  {
    id: 'G5',
    title: 'a secret that is typed shows nowhere',
    steps: [
      runWhile(
        'read -s pw; echo ${#pw}',
        async (trap) => {
          await trap.awaitInput();
          await trap.input('seKret\n');
        },
        {
          stdout: '6\n',
          check: (_, trap) => {
            expect(JSON.stringify(trap.client.events)).not.toContain('seKret');
            if (trap.daemon) expect(trap.daemon.output).not.toContain('seKret');
          },
        },
      ),
    ],
  },
  interrupted('G7a', 'sleep 30'),
  interrupted('G7b', 'sleep 30 | cat'),
  interrupted('G7c', 'for i in 1 2 3; do sleep 30; done'),
  {
    id: 'G9',
    title: 'SIGTERM is the program’s to handle',
    steps: [
      runWhile(
        `bash -c 'trap "echo got; exit 5" TERM; echo go; sleep 30 & wait'`,
        async (trap) => {
          await trap.output('go\n');
          await trap.signal('SIGTERM');
        },
        {
          stdout: 'go\ngot\n',
          exit_code: 5,
          status: oneOf('completed', 'interrupted', 'killed'),
          killed_by: oneOf(null, 'signal'),
        },
      ),
    ],
  },
  {
    id: 'G11a',
    title: 'no pager waits for a key',
    steps: [
      run(
        'git init -q . && for i in {1..120}; do git -c user.name=a -c user.email=a@b commit -q --allow-empty -m c$i; done',
        {
          takesMs: 10_000,
          stderr: /^/,
        },
      ),
      run('git log --format=%s', { stdout: /^c120\n(.*\n){118}c1\n$/ }),
      run('git log --format=%s', { stdout: /^c120\r?\n/ }, { tty: true }),
      run('man true 2>&1 | head -c 1 | wc -c', { stdout: /^[01]\n$/ }),
    ],
  },
  ...['vim', 'less /etc/passwd', 'top'].map((program, index): Trap => ({
    id: `G11${'bcd'[index]}`,
    title: `${program} on the terminal ends by its time-out and leaves the terminal usable`,
    steps: [
      run(
        program,
        { stdout: /./, exit_code: 124, status: 'timed_out', killed_by: 'timeout', takesMs: 3500 },
        { tty: true, timeout_ms: 1000 },
      ),
      run('echo ok', { stdout: 'ok\n' }),
      run('echo ok', { stdout: 'ok\r\n' }, { tty: true }),
      run('stty -a | tr " " "\\n" | grep -x -e "-\\?icanon;\\?" -e "-\\?echo;\\?" -e "-\\?isig"', {
        stdout: /^(?!.*-icanon)/s,
        exit_code: 0,
      }),
    ],
  })),
  {
    id: 'G11e',
    title: 'vim ends by keys',
    steps: [
      runWhile(
        'vim -u NONE -n',
        async (trap) => {
          await trap.client.until(() => (trap.streamed(trap.commandId).length > 0 ? true : undefined));
          await trap.awaitInput();
          await trap.input(':q!\r');
        },
        { stdout: /./ },
        { tty: true },
      ),
      run('echo ok', { stdout: 'ok\n' }),
    ],
  },
  {
    id: 'G13',
    title: 'questions to the terminal get no answer',
    steps: [
      run(String.raw`printf '\033[6n\033]11;?\007\033[c'`, { stdout: '\x1b[6n\x1b]11;?\x07\x1b[c' }),
      run(String.raw`printf '\033[6n\033]11;?\007\033[c'`, { stdout: '\x1b[6n\x1b]11;?\x07\x1b[c' }, { tty: true }),
      run('read -t 0.3 -n 1 x; echo "<$x>"', { stdout: '<>\n', takesMs: 300 }),
    ],
  },
  {
    id: 'G15',
    title: 'a megabyte typed',
    steps: [
      runWhile(
        'echo go; sleep 2',
        async (trap) => {
          await trap.output('go\n');
          const answer = await trap.input('x'.repeat(1_000_000));
          if (answer.error) expect(answer.error.code).toBe('INPUT_FULL');
          else expect(answer.accepted_bytes).toBe(1_000_000);
        },
        { stdout: 'go\n', takesMs: 2000 },
      ),
      run('echo clean', { stdout: 'clean\n' }),
      run('wc -c', { stdout: '1000000\n' }, { stdin: 'x'.repeat(1_000_000) }),
      runWhile(
        'wc -c',
        async (trap) => {
          await trap.awaitInput();
          await trap.input(`${'x'.repeat(99)}\n`.repeat(2000), true);
        },
        { stdout: '200000\n' },
      ),
    ],
  },
];

conformance('G. stdin, signals, interactive: the page', page);
