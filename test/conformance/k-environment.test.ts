import { expect } from 'vitest';

import { quote } from '../../src/engine/shells/shell.js';
import { conformance } from './harness/runner.js';
import { disturb, HASTY, stillWorks, survives } from './harness/hostile.js';
import { oneOf, run, type Trap } from './harness/table.js';

const NAMES = [
  'a\nb',
  '\n',
  'trailing\n',
  `it's`,
  'double"quote',
  'back\\slash',
  'two  blanks',
  ' leading',
  '$(x)',
  '`x`',
  '$HOME',
  '*',
  '-n',
  '😀שלום',
  '\x01\x1b[31m',
  'a\'b"c$(d)`e`\\\n;&|<>()',
  'n'.repeat(200),
];

const IFS_VALUES = ["''", "$'\\n'", '_', 'sa', 'abcdefghijklmnopqrstuvwxyz', "'/. '", "':%-'", "'AAz='"];

const directories: Trap[] = [
  {
    id: 'K20',
    title: 'directories of every name: entered, told, and come back to',
    steps: NAMES.flatMap((name) => {
      const ends = (text: string) => {
        expect(text.endsWith(`/${name}`)).toBe(true);
      };
      return [
        run(`mkdir -- ./${quote(name)} && cd -- ./${quote(name)}`, {
          check: ({ working_directory }) => {
            ends(working_directory ?? '');
          },
        }),
        run('pwd', {
          stdout: /\n$/,
          check: ({ stdout, working_directory }) => {
            ends(stdout.slice(0, -1));
            ends(working_directory ?? '');
          },
        }),
        run('cd ..'),
        run(
          'pwd',
          {
            stdout: /\n$/,
            check: ({ stdout }) => {
              ends(stdout.slice(0, -1));
            },
          },
          { cwd: `./${name}` },
        ),
      ];
    }),
  },
  {
    id: 'K20b',
    title: 'a new shell starts in a directory of an odd name',
    restarts: 1,
    steps: [
      run(`mkdir ${quote("a'b\n$(x) ")}; cd ${quote("a'b\n$(x) ")}`),
      run('kill -9 $$', { exit_code: 137, session_state: 'restarted' }),
      run('pwd', { stdout: /\/a'b\n\$\(x\) \n$/ }),
    ],
  },
  {
    id: 'K20c',
    title: 'a path longer than the system takes',
    steps: [
      run('for i in {1..30}; do d=$(printf %0200d 0); mkdir $d && cd $d; done; echo ${#PWD}', {
        stdout: /^[67]\d{3}\n$/,
        takesMs: 2000,
      }),
      run('echo here >f; /bin/cat f', { stdout: 'here\n' }),
      run('cd /'),
    ],
  },
  {
    id: 'K21',
    title: 'PWD, changed by hand',
    steps: [
      run('cd /usr; PWD=/x'),
      run('/bin/pwd -P', { stdout: '/usr\n' }),
      run('cd /; pwd', { stdout: '/\n', working_directory: '/' }),
      run('unset PWD OLDPWD'),
      run('/bin/pwd -P', { stdout: '/\n' }),
      run('cd /usr; /bin/pwd -P', { stdout: '/usr\n' }),
      run('cd /bin; cd -P .; cd /'),
      run('pwd', { stdout: '/\n', working_directory: '/' }),
    ],
  },
  {
    id: 'K21b',
    title: 'PWD, readonly',
    steps: [
      run('cd /usr; readonly PWD OLDPWD'),
      disturb('cd /'),
      stillWorks(),
      // `cd` itself fails then.
      run('echo a', { stdout: /^(a\n)?$/, stderr: /^/, exit_code: oneOf(0, 126) }, { cwd: '/tmp' }),
      stillWorks(),
    ],
    restarts: oneOf(0, 1),
  },
  {
    id: 'K22',
    title: 'CDPATH, HOME and TMPDIR',
    steps: [
      run('mkdir -p sub/usr; CDPATH=/:.; cd usr', { stdout: '/usr\n', working_directory: '/usr' }),
      run('pwd', { stdout: '/usr\n' }),
      run('pwd', { stdout: '/\n' }, { cwd: '/' }),
      run('unset CDPATH; HOME=; cd; cd ~ 2>/dev/null; true', { stderr: /^/ }),
      run('unset HOME; cd 2>/dev/null; true; TMPDIR=/nonexistent_xyz; cat <<<here', { stdout: 'here\n', stderr: /^/ }),
      stillWorks(),
    ],
  },
];

const values: Trap[] = [
  {
    id: 'K23',
    title: 'IFS of every kind',
    steps: [...IFS_VALUES.map((value) => `IFS=${value}`), 'unset IFS', 'readonly IFS=sa'].flatMap((command) => [
      run(command),
      stillWorks(),
      run('cd /usr', { working_directory: '/usr' }),
      run('pwd; echo "$K"', { stdout: '/\n1 2\n' }, { cwd: '/', env: { K: '1 2' } }),
      run('pwd; exit 7', { stdout: '/usr\n', exit_code: 7 }),
    ]),
  },
  {
    id: 'K23b',
    title: 'IFS of digits',
    steps: [run('IFS=0123456789'), stillWorks(), run('exit 7', { exit_code: 7 }), stillWorks()],
  },
  {
    id: 'K24',
    title: 'locales, changed between commands',
    steps: ['C', 'POSIX', 'C.UTF-8', 'xx_XX', ''].flatMap((locale) => [
      run(`export LC_ALL=${locale}`, { stderr: /^/ }),
      run("printf 'é漢😀\\n'; echo 漢 >&2", { stdout: 'é漢😀\n', stderr: '漢\n' }, { stream: true }),
      run(String.raw`cd /; printf '\xe6\xbc'`, { stdout: '\uFFFD', lossy: true, working_directory: '/' }),
    ]),
  },
  survives('K25', 'no PATH and an odd one', ['unset PATH', 'PATH=/nonexistent', 'PATH=:::', 'readonly PATH=']),
  {
    id: 'K26',
    title: 'variables that shells act on, for one command',
    steps: [
      run("echo 'echo hacked' >rc"),
      run('bash -c "echo child"; echo $BASH_ENV', { stdout: 'hacked\nchild\n./rc\n' }, { env: { BASH_ENV: './rc' } }),
      run('bash -c "echo child"; echo ${BASH_ENV-none}', { stdout: 'child\nnone\n' }),
      run('echo $ENV', { stdout: './rc\n' }, { env: { ENV: './rc' } }),
      ...[
        { IFS: 'a' },
        { PATH: '/nonexistent' },
        { PS4: '$(echo hacked >&2)' },
        { PROMPT_COMMAND: 'echo hacked' },
        { POSIXLY_CORRECT: '1' },
        { LC_ALL: 'C' },
        { HOME: '' },
        { PWD: '/x' },
        { TMOUT: '1' },
        { BASH_XTRACEFD: '9' },
        { FUNCNEST: '1' },
        { OPTIND: '3' },
        { HISTFILE: './history' },
        { CDPATH: '/' },
        { _: 'x' },
        { RANDOM: '1' },
        { SECONDS: 'x' },
        { LINENO: '5' },
        { BASH_ARGV0: 'x' },
        { GLOBIGNORE: '*' },
        { EXECIGNORE: '*' },
      ].flatMap((env) => [run('echo in', { stdout: 'in\n', stderr: /^/ }, { env }), stillWorks()]),
    ],
  },
  {
    id: 'K27',
    title: 'readonly variables, for one command',
    restarts: oneOf(0, 1, 2, 3, 4, 5, 6),
    steps: [
      run('readonly MINE=1'),
      ...['SHELLOPTS', 'BASHOPTS', 'UID', 'PPID', 'BASH_VERSINFO', 'MINE'].flatMap((name) => [
        { ...disturb('echo in'), options: { env: { [name]: 'x' } } },
        stillWorks(),
      ]),
    ],
  },
  {
    id: 'K28',
    title: 'limits of many kinds',
    restarts: oneOf(0, 1, 2, 3, 4, 5, 6),
    steps: [
      '-c unlimited',
      '-c 0',
      '-s 256',
      '-n 12',
      // Above what runs: for a process that it may not start, bash waits 15 s.
      '-u $(($(ps -eL | wc -l) + 200))',
      '-q 1000',
      '-i 0',
      '-l 0',
      '-e 10',
      '-v 30000',
      '-d 1000',
    ].flatMap((limit) => [
      disturb(`ulimit -S ${limit}`),
      disturb('ls / >/dev/null; (true); true | cat'),
      disturb('true'),
    ]),
  },
  {
    id: 'K28b',
    title: 'a limit on the shell’s own CPU time',
    restarts: 1,
    steps: [disturb('ulimit -S -t 1; while :; do :; done'), stillWorks()],
  },
];

conformance('K. Hostile: directories', directories, HASTY);
conformance('K. Hostile: values', values, HASTY);
