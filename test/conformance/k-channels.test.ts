import { conformance } from './harness/runner.js';
import { HASTY, stillWorks, survives } from './harness/hostile.js';
import { oneOf, run, runWhile, type Trap } from './harness/table.js';

/** Writes a text to whatever the shell has open that looks like the driver's way of reporting. */
const forge = (text: string): string =>
  `for fd in /proc/$$/fd/*; do [[ $(readlink "$fd") == *ctl ]] && printf '${text}' >"$fd"; done; sleep 0.2; (exit 1)`;

const REPORTS: Readonly<Record<string, string>> = {
  'a report': String.raw`AAAAAAAAAAAAAAAAAAAAAA 0 0 /\0`,
  'a report of another directory': String.raw`AAAAAAAAAAAAAAAAAAAAAA 0 0 /etc\0`,
  'a shell at its prompt': String.raw`idle 0 0 /\0`,
  'a new shell': String.raw`ready 0 0 /\0`,
  'no report': String.raw`\0\0 \0x y z\0\n\n\0%%n\0`,
};

const forgery: Trap[] = [
  ...Object.entries(REPORTS).map(([what, text], index): Trap => ({
    id: `K10${'abcdefgh'[index]}`,
    title: `forged on the driver’s channel: ${what}`,
    steps: [
      run('cd /usr', { working_directory: '/usr' }),
      run(forge(text), { exit_code: 1, working_directory: '/usr', takesMs: 500 }),
      stillWorks(),
    ],
  })),
  survives('K10g', 'half a report', [forge('AAAAAAAAAAAAAAAA')], { restarts: oneOf(0, 1) }),
  survives('K10i', 'forged requests', [`printf 'o%031d' 7 >"$__sa_dir/cmd"`, `printf garbage >"$__sa_dir/cmd"`], {
    losesNext: true,
    restarts: oneOf(0, 1, 2),
  }),
  {
    id: 'K11',
    title: 'fences on the terminal, forged, halved and repeated',
    steps: [
      String.raw`printf '\e]7711;'`,
      String.raw`printf '\e]7711;z'`,
      String.raw`printf '\e]7711;a%022d\a' 0`,
      String.raw`printf '\e]7711;z%022d\a' 0; sleep 0.1; printf '\e]77'`,
      String.raw`printf '\e'`,
      String.raw`printf '\e]0;title'`,
    ].flatMap((command) => [
      run(`${command}; (exit 4)`, { stdout: /^./, exit_code: 4, takesMs: 300 }, { tty: true }),
      run('echo ok', { stdout: 'ok\r\n' }, { tty: true }),
      stillWorks(),
    ]),
  },
];

const descriptors: Trap[] = [
  survives('K12', 'all descriptors closed', ['for i in {3..255}; do eval "exec $i>&-"; done'], {
    restarts: oneOf(0, 1),
  }),
  survives('K12b', 'all descriptors moved', ['for i in {3..255}; do eval "exec $i</dev/null"; done'], {
    restarts: oneOf(0, 1),
  }),
  survives('K12c', 'stdin, stdout and stderr closed', ['exec 0<&- 1>&- 2>&-', 'exec </dev/null >/dev/null 2>&1']),
  {
    id: 'K13',
    title: 'descriptors of the user’s own stay',
    steps: [
      run('exec {fd}>own; echo a >&$fd'),
      run('echo b >&$fd; exec {fd}>&-; cat own', { stdout: 'a\nb\n' }),
      run('exec 7<own; read -r x <&7; echo $x', { stdout: 'a\n' }),
      run('read -r x <&7; echo $x; exec 7<&-', { stdout: 'b\n' }),
      run('exec 62>mine 63<own; echo c >&62; read -r x <&63; echo $x; cat mine', { stdout: 'a\nc\n' }),
    ],
  },
  {
    id: 'K14',
    title: 'the terminal itself',
    steps: [
      run('stty -a </dev/tty >/dev/null; stty 0 </dev/tty; stty -F /dev/tty raw -echo', { stderr: /^/ }),
      stillWorks(),
      run('exec </dev/null'),
      run('cat', {}),
      run('exec </dev/tty'),
      run("script -qc 'echo in script; exit 5' /dev/null; script -qec 'exit 6' /dev/null", {
        stdout: 'in script\r\n',
        exit_code: 6,
      }),
    ],
  },
  survives('K14b', 'a terminal that is hung up', [
    'python3 -c "import fcntl,os,termios;fcntl.ioctl(0, termios.TIOCNOTTY)"; true',
  ]),
  {
    id: 'K15',
    title: 'a terminal stopped by Ctrl-S',
    steps: [
      runWhile(
        'echo go; sleep 0.3; echo end',
        async (trap) => {
          await trap.output('go\n');
          await trap.input('\x13');
        },
        { stdout: 'go\nend\n', takesMs: 300 },
      ),
      run('echo on', { stdout: 'on\r\n' }, { tty: true }),
    ],
  },
];

conformance('K. Hostile: forgery', forgery, HASTY);
conformance('K. Hostile: descriptors and the terminal', descriptors, HASTY);
