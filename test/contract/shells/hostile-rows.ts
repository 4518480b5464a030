import { alive, allBut, type Expected, type Row, run } from './table.js';

const WORDS = 'read printf . eval builtin command exec unset export if case while { } [[ trap set true : kill exit';
const ALIASES = WORDS.split(' ')
  .map((word) => `'${word}=false'`)
  .join(' ');
const DRIVER_FUNCTIONS = '__sa_end=false __sa_next=false __sa_late=false __sa_in=false __sa_hook=false __sa_rc=false';
const REPLACED: Expected = { exitCode: 137, status: 'killed', sessionState: 'restarted' };
const CLOSED_OUTPUT = 'echo to a closed stdout is no error';

/** What breaks drivers that trust their shell. After each the session must answer as before. */
export const HOSTILE_ROWS: readonly Row[] = [
  {
    title: 'functions in the place of builtins',
    steps: [
      run(
        'printf() { echo P; }; read() { echo R; }; cd() { echo C; }; alias() { :; }; kill() { :; }; jobs() { echo J; }',
      ),
      run(
        'echo a; command printf b',
        { stdout: 'a\nb' },
        {
          zsh: { stdout: 'a\nb', because: 'command runs a program' },
        },
      ),
      run('command() { echo C; }; test() { echo T; }; umask() { echo U; }; export V=1'),
      run('echo $V', { stdout: '1\n' }),
      run('exit 5', { exitCode: 5 }),
      alive,
    ],
  },
  {
    title: 'functions in the place of what sh keeps for itself',
    only: allBut('sh'),
    steps: [
      run('builtin() { echo B; }; eval() { echo E; }; unset() { echo U; }; export() { echo X; }'),
      alive,
      run('trap() { echo T; }; set() { echo S; }; return() { echo R; }; syswrite() { echo S; }; sysread() { echo S; }'),
      run('exit 5', { exitCode: 5 }),
      alive,
    ],
  },
  {
    title: 'aliases over every word of the driver',
    steps: [
      run(`alias ${ALIASES} ${DRIVER_FUNCTIONS}`),
      alive,
      run('\\unalias -a'),
      run('exit 4', { exitCode: 4 }),
      alive,
    ],
  },
  {
    title: 'readonly variables',
    steps: [
      run('readonly log=1 EXIT_CODE=5 _ec=5 REPLY=1 i=3 x=2 cmd=1 status_=4 line=5 OLDIFS=1 rc=2'),
      alive,
      run('readonly OPTIND=1 PS1=p PS2=q PATH IFS=,'),
      alive,
      run('exit 3', { exitCode: 3 }),
      alive,
    ],
  },
  {
    title: 'options, umask and IFS',
    steps: [
      run('umask 777; echo u', { stdout: 'u\n' }),
      run('echo "mode $(umask)"; umask 022', { stdout: /mode 0?777\n/ }),
      run('set -C; set -o noglob; echo *', { stdout: '*\n' }),
      alive,
      run('set +C; set +o noglob; IFS=0123456789/x'),
      alive,
      run('exit 6', { exitCode: 6 }),
      run('IFS='),
      alive,
      run('set -a; EXPORTED=1'),
      run('env | grep -c -e EXPORTED -e __sa_; set +a', { stdout: '1\n' }),
      run('set -u -o noclobber'),
      alive,
    ],
  },
  {
    title: 'set -n',
    steps: [
      run(
        'set -n',
        {},
        {
          zsh: { stderr: /can't change option/, exitCode: 1, because: 'an interactive shell refuses it' },
          sh: {
            exitCode: 137,
            status: 'killed',
            sessionState: 'restarted',
            because: 'it obeys, does nothing any more, and is replaced',
          },
        },
      ),
      alive,
    ],
  },
  {
    title: 'traps on DEBUG and ERR see the user’s commands',
    only: allBut('sh'),
    steps: [
      run("trap 'echo D' DEBUG"),
      run('echo a', { stdout: 'D\na\n' }),
      run('trap - DEBUG', { stdout: 'D\n' }),
      run("trap 'echo E' ERR; false", { stdout: 'E\n', exitCode: 1 }),
      run('trap - ERR'),
      alive,
    ],
  },
  {
    title: 'no PATH',
    steps: [
      run('PATH='),
      run('ls', { stderr: /not found|No such file/, exitCode: 127 }),
      run('PATH=/usr/bin:/bin'),
      alive,
    ],
  },
  {
    title: 'descriptors closed, duplicated and redirected for good',
    steps: [
      run('exec >&- 2>&-; echo z', { exitCode: 1 }, { zsh: { because: CLOSED_OUTPUT } }),
      run('exec <&-'),
      run('exec 3>&1 4>&2; exec >file 2>&1; echo q; exec 1>&3 2>&4; cat file', { stdout: 'q\n' }),
      run('exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; echo w; echo v >&2', { stdout: 'w\n', stderr: 'v\n' }),
      run('exec 9>lock; echo locked >&9; cat lock', { stdout: 'locked\n' }),
      alive,
    ],
  },
  {
    title: 'a directory that is removed',
    steps: [
      run('mkdir gone; cd gone; rmdir ../gone', { workingDirectory: '/gone' }),
      run('echo a', { stdout: 'a\n', workingDirectory: '/gone' }),
      run('cd ..', { workingDirectory: '' }),
      alive,
    ],
  },
  {
    title: 'a directory of an odd name, also for the shell that follows',
    steps: [
      run('d=$(printf "a\'b\\nc\\"d \\\\\\$e"); mkdir "$d"; cd "$d"', { workingDirectory: '/a\'b\nc"d \\$e' }),
      run('kill -9 $$', { exitCode: 137, sessionState: 'restarted', workingDirectory: '/a\'b\nc"d \\$e' }),
      run('basename "$PWD"', { stdout: 'a\'b\nc"d \\$e\n', workingDirectory: '/a\'b\nc"d \\$e' }),
    ],
  },
  {
    title: 'the driver’s own files, removed',
    isPrevented: true,
    steps: [
      run('export KEPT=1; cd /usr'),
      run(
        'rm -rf -- "$__sa_dir"; sleep 0.01',
        {},
        {
          sh: { ...REPLACED, because: 'it has no descriptor left to report on' },
        },
      ),
      run('echo a', REPLACED, { sh: { stdout: 'a\n', because: 'it has been replaced by then' } }),
      run('pwd', { stdout: '/usr\n' }),
      alive,
    ],
  },
  {
    title: 'names of the shell’s own, unset',
    steps: [run('unset PS1 PS2 PS4 PROMPT_COMMAND PWD OLDPWD IFS'), alive, run('exit 2', { exitCode: 2 }), alive],
  },
];
